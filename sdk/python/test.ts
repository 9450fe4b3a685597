import { print, runCommand } from '../../localstack/command.ts'
import { installedPython } from '../../localstack/python.ts'
import { run } from '../../localstack/run.ts'

/** Checks and tests the Python client (`npm run test:python`). Arguments are those of pytest. */

const environment = { requirements: 'sdk/python/requirements.txt', minors: [10, 11, 12, 13, 14] }

const steps = [
  ['ruff', 'check', '--quiet'],
  ['ruff', 'format', '--check', '--quiet'],
  ['mypy'],
  ['pytest', ...process.argv.slice(2)],
]

await runCommand(async ({ signal }) => {
  const python = await installedPython(environment, print, signal)
  for (const step of steps) {
    const args = [python, '-m', ...step]
    const code = await run(args, { cwd: import.meta.dirname, onLine: print, signal })
    if (code !== 0) return code
  }
  return 0
})
