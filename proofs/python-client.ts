import { join } from 'node:path'
import { print, runCommand } from '../sandbox/localstack/command.ts'
import { installedPython } from '../sandbox/localstack/python.ts'
import { ROOT, run } from '../sandbox/localstack/run.ts'

/**
 * Runs a task of the Python client in its virtual environment: `npm run test:python [PYTEST OPTIONS]`
 * checks and tests it, `npm run openapi:python` writes its wire types, `npm run release` builds it.
 */

const FOLDER = join(ROOT, 'sdk/python')
const environment = { requirements: 'sdk/python/requirements.txt', minors: [10, 11, 12, 13, 14] }

const [task, ...options] = process.argv.slice(2)

const checks = [
  ['-m', 'ruff', 'check', '--quiet'],
  ['-m', 'ruff', 'format', '--check', '--quiet'],
  ['-m', 'mypy'],
  ['-m', 'pytest', ...options],
]

const steps: Record<string, string[][]> = {
  types: [['generate.py']],
  build: [['-m', 'hatchling', 'build', '--target', 'wheel', '--directory', options[0] ?? '']],
}

await runCommand(async ({ signal }) => {
  const python = await installedPython(environment, print, signal)
  for (const step of steps[task ?? ''] ?? checks) {
    const code = await run([python, ...step], { cwd: FOLDER, onLine: print, signal })
    if (code !== 0) return code
  }
  return 0
})
