"""Targets and scripts of a project: by convention some build, test or tidy; the others are unknown."""

import re

from sekisho.core.action import Effect
from shim.call import Call
from shim.text import known

# Names of targets that by convention only build, test, check or tidy.
CONVENTIONAL = re.compile(
    r"((build|compile|assemble|bundle|package|dist)[:_.-](prod|production|release|staging|update)|(all|"
    r"build|test|tests|check|checks|lint|format|fmt|clean|distclean|typecheck|types|type-check|tsc|compile|"
    r"coverage|cover|unit|integration|e2e|spec|docs?|dev|start|serve|watch|install|deps|setup|prepare|"
    r"bench|benchmark|verify|assemble|debug|help|style|mypy|ruff|pylint|flake8|eslint|prettier|black|isort|"
    r"jest|vitest|mocha|pytest|tox|dist|package|bundle|preview|storybook|validate|audit|vet|generate|gen|"
    r"codegen|ci|fix|tidy|classes|testClasses|jar|javadoc|compileJava|compileTestJava|dependencies|tasks|"
    r"properties|projects|wrapper|publishToMavenLocal|bootRun|bootJar|installDist|nativeTest|ktlintCheck|"
    r"spotlessApply|spotlessCheck|connectedAndroidTest|assembleDebug|assembleRelease|"
    r"testDebugUnitTest)([:_.-](all|unit|integration|e2e|ci|watch|fix|check|coverage|cov|dev|js|ts|css|py|"
    r"go|rust|types|lint|test|tests|fast|slow|debug|client|server|web|api|docs|html|only|quick|full|"
    r"clean))*)"
)


def conventional(target: str) -> bool:
    return CONVENTIONAL.fullmatch(target.rsplit(":", 1)[-1] if target.startswith(":") else target) is not None


def judge_targets(call: Call, tool_name: str, targets: list[str]) -> None:
    for target in targets:
        if known(target) and conventional(target):
            call.does(Effect.LOCAL, target, f"{tool_name} {target}: builds, tests or tidies by convention")
        else:
            call.unknown(
                target, f"what {tool_name} {target} does is in the project's file", code="script-body"
            )
