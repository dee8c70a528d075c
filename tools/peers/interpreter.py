"""What the comparisons with peers share: an interpreter that has the peers, and what a command answers."""

import json
import subprocess
import sys
import venv


def install(folder, requirements):
    """The interpreter of a virtual environment in `folder` that holds `requirements`, lines as of a requirements file."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    done = folder / "requirements.txt"
    if not done.exists() or done.read_text() != requirements:
        wanted = folder / "wanted.txt"
        wanted.write_text(requirements)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", wanted], check=True)
        wanted.replace(done)
    return python


def last_json(command, **options):
    """The last line of JSON that a command prints, or None if it fails, whose complaint is shown."""
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, **options)
    lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
    if result.returncode != 0 or not lines:
        print(f"failed: {' '.join(map(str, command))}", file=sys.stderr)
        return None
    return json.loads(lines[-1])
