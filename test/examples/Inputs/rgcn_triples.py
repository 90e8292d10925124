#!/usr/bin/env python3
"""Writes g.nt, train.tsv and test.tsv to a folder: 90 people of three schools, told only by what they wrote about. Each of 12 topics
belongs to a school; a person has three topics of his own school by `likes` and one of another by `avoids`, whatever the relation.
Other triples say nothing of schools. Usage: rgcn_triples.py FOLDER"""
import sys

folder, people, schools, topics = sys.argv[1], 90, 3, 12
iri = "<http://example.org/%s>"
lines = ["# comments, empty lines and repeated triples are no edges", ""]
for p in range(people):
    school = p % schools
    for i in range(3):
        lines.append("%s %s %s ." % (iri % f"p{p}", iri % "likes", iri % f"t{school + schools * ((p // schools + i) % 4)}"))
    other = (school + 1 + p // schools % 2) % schools
    lines.append("%s %s %s ." % (iri % f"p{p}", iri % "avoids", iri % f"t{other + schools * (p % 4)}"))
    lines.append('%s %s "no \\"%d\\" . of <many>"@en .' % (iri % f"p{p}", iri % "name", p))
    lines.append("%s %s _:room%d . # shared" % (iri % f"p{p}", iri % "sits", p // 5))
with open(folder + "/g.nt", "w", encoding="utf-8") as f:
    f.write("\n".join(lines + lines[2:9]) + "\n")
for name, rows in ("train", [p for p in range(people) if p % 5 < 3]), ("test", [p for p in range(people) if p % 5 >= 3]):
    with open(f"{folder}/{name}.tsv", "w", encoding="utf-8") as f:
        f.write("person\tid\tschool\n")
        f.writelines("http://example.org/p%d\t%d.0\tschool %d\n" % (p, p, p % schools) for p in rows)
