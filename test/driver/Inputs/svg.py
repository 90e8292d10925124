"""Usage: svg.py FILE. A line for each text, line and dot of a drawing. It is XML, fits its size, and has colours for light and dark."""
import re
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"
root = xml.parse(sys.argv[1]).getroot()
width, height = (float(root.get(side)) for side in ("width", "height"))
style = root.find(SVG + "style").text
light, dark = style.split("@media (prefers-color-scheme:dark)")
assert root.tag == SVG + "svg" and root.get("viewBox") == f"0 0 {width:.0f} {height:.0f}"
for name in {name for x in root.iter() for name in x.get("class", "").split()}:
    assert f".{name}{{" in light, name
    assert f".{name}{{" in dark or name in {"line", "dashed", "dot", "title"}, name
assert not any(word in open(sys.argv[1]).read() for word in ("nan", "inf ", "<script", "href")), "text"


def shown(element, down):
    place = re.match(r"translate\(([-\d.]+) ([-\d.]+)\)", element.get("transform", ""))
    down += float(place[2]) if place else 0
    kind, names = element.tag.removeprefix(SVG), element.get("class", "").split()
    title = element.findtext(SVG + "title", "")
    if kind == "text":
        assert 0 < float(element.get("x")) < width and 0 < down + float(element.get("y")) <= height
        print("text", element.text)
    if kind == "circle" and title:
        assert 0 < float(element.get("cx")) < width and 0 < down + float(element.get("cy")) < height
        print("dot", title)
    if kind == "path" and title:
        points = re.findall(r"([ML])([-\d.]+) ([-\d.]+)", element.get("d"))
        assert len(points) > 1 and points[0][0] == "M"
        print("dashed" if "dashed" in names else "line", len(points), title)
    for child in element:
        shown(child, down)


shown(root, 0)
