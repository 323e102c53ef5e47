"""A Python tool for `jp:tool@0.1.0`: reads the file named by `path` below the root it was given.

`cargo xtask interop` turns it into a component; it must not know how the host runs it.
"""

import json
import os

import wit_world
from wit_world.imports import types


def failure(message: str) -> types.Outcome:
    return types.Outcome_Error(types.ErrorInfo(message=message, trace=[], transient=False))


class WitWorld(wit_world.WitWorld):
    def run(self, ctx: types.Context, name: str, arguments: str, answers: str) -> types.Outcome:
        path = json.loads(arguments).get("path")
        if not isinstance(path, str):
            return failure("the argument `path` must be a string")
        if ctx.action == types.Action.FORMAT_ARGUMENTS:
            return types.Outcome_Success(f"{name} {path}")
        try:
            with open(os.path.join(ctx.root, path), encoding="utf-8") as file:
                return types.Outcome_Success(file.read())
        except OSError as error:
            return failure(f"cannot read {path}: {error.strerror}")
