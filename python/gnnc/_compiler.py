"""The compiler as a process: a text to a library of ops, its diagnostics to exceptions."""
import difflib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import warnings


class CompileError(ValueError):
    """A text was refused. `diagnostics` holds what the compiler says, a dictionary each (code, message, file, line, column, notes)."""

    def __init__(self, text, diagnostics=()):
        super().__init__(text)
        self.diagnostics = list(diagnostics)


class CompileWarning(UserWarning):
    """What the compiler warns of."""


def meant(name, known):
    """": did you mean …?", or nothing."""
    by = {k.lower(): k for k in known if k[0] != "_"}
    near = difflib.get_close_matches(name.lower(), by, 1)
    return "; did you mean %s?" % by[near[0]] if near else ""


def compiler():
    """The path of gnnc: $GNNC, that of the package, of a build beside the package, or of the path."""
    here = os.path.dirname(os.path.abspath(__file__))
    for path in (os.environ.get("GNNC"), os.path.join(here, "bin", "gnnc"),
                 os.path.join(os.path.dirname(os.path.dirname(here)), "build", "bin", "gnnc"), shutil.which("gnnc")):
        if path and os.path.exists(path):
            return path
    raise FileNotFoundError("gnnc is not found: it comes with the package, or $GNNC names it")


def _told(d):
    """A diagnostic as a person reads it. A text that was no file is called `text`."""
    name = "text" if os.path.dirname(d.get("file") or "") == _cache_folder() else d.get("file")
    place = "%s:%d:%d: " % (name, d["line"], d["column"]) if name and d.get("line") else ""
    lines = ["%s%s[%s]: %s" % (place, d["severity"], d["code"], d["message"])]
    return "\n".join(lines + ["  %s: %s" % (n["kind"], n["message"]) for n in d.get("notes", ())])


def _diagnostics(errors):
    found, rest = [], []
    for line in errors.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            rest.append(line)
    return found, "\n".join(rest)


def run(words, binary=False):
    """What gnnc prints. Its errors are raised, its warnings are warned of."""
    p = subprocess.run([compiler(), *words, "--diagnostics-format=json"], stdin=subprocess.DEVNULL, capture_output=True)
    found, rest = _diagnostics(p.stderr.decode(errors="replace"))
    if p.returncode:
        errors = [d for d in found if d["severity"] == "error"]
        raise CompileError("\n".join(map(_told, errors or found)) or rest or "gnnc ended with status %d" % p.returncode, found)
    for d in found:
        if d["severity"] == "warning":
            warnings.warn(_told(d), CompileWarning, stacklevel=4)
    return p.stdout if binary else p.stdout.decode()


def _cache_folder():
    base = os.environ.get("GNNC_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "gnnc")
    return os.path.join(base, "python")


def _written(text):
    """The path of a file with this text, which is written once."""
    folder = _cache_folder()
    path = os.path.join(folder, hashlib.sha256(text.encode()).hexdigest()[:24] + ".gnn")
    if not os.path.exists(path):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        draft = "%s.%d" % (path, os.getpid())
        with open(draft, "w") as f:
            f.write(text)
        os.replace(draft, path)
    return path


class Source:
    """A .gnn text or file, with what is bound and chosen when it is compiled."""

    def __init__(self, text_or_path, defines=None, ops=None, schedule=None, include=(), options=()):
        text = os.fspath(text_or_path)
        self.path = text if text.endswith(".gnn") and "\n" not in text else _written(text)
        self.words = ["-D%s=%s" % d for d in sorted((defines or {}).items())]
        self.words += ["--op=" + o for o in ops or ()] + ["-I" + i for i in include] + list(options)
        if schedule:
            self.words.append("--schedule=" + schedule)

    def library(self, target):
        """The bytes of a library for "host", or for a GPU's architecture such as "sm_90a"."""
        words = ["--target=host"] if target == "host" else ["--target=cuda", "--arch=" + target]
        return run(["compile", self.path, *self.words, *words, "--emit=library", "-o", "-"], binary=True)

    def emit(self, form, target, op=None):
        """A text on the way: "ptx", "simt", "loop", "plan", "tensor", "schedule", "manifest" and others (gnnc --help)."""
        words = ["--target=host"] if target == "host" else ["--target=cuda", "--arch=" + target]
        words += ["--op=" + op] if op else []
        return run(["compile", self.path, *[w for w in self.words if not (op and w.startswith("--op="))], *words,
                    "--emit=" + form, "-o", "-"])

    def run(self, verb, op, target, words):
        """The output of gnnc run or bench of an op; a GPU's target is the one that is here."""
        target = "host" if target == "host" else "cuda"
        return run([verb, self.path, *[w for w in self.words if not w.startswith("--op=")], "--op=" + op, "--target=" + target, *words])


def main():
    """The command line: gnnc."""
    os.execv(compiler(), [compiler(), *sys.argv[1:]])
