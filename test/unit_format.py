"""lit's format for test/: shell tests, and .c files that are programs built by CMake."""
import os

import lit.formats
import lit.Test
import lit.util


class UnitFormat(lit.formats.ShTest):
    def __init__(self, root, build):
        super().__init__(execute_external=False)
        self.root, self.build = root, build

    def execute(self, test, litConfig):
        source = test.getSourcePath()
        if not source.endswith(".c"):
            return super().execute(test, litConfig)
        folder, name = os.path.split(os.path.relpath(source, os.path.join(self.root, "test")))
        program = os.path.join(self.build, "bin", "unit", folder + "-" + os.path.splitext(name)[0])
        if not os.path.exists(program):
            return lit.Test.UNRESOLVED, program + " is not built"
        place = os.path.join(self.build, "test", folder)
        os.makedirs(place, exist_ok=True)
        out, err, status = lit.util.executeCommand([program], cwd=place, env=test.config.environment, timeout=litConfig.maxIndividualTestTime or 300)
        return (lit.Test.FAIL if status else lit.Test.PASS), out + err
