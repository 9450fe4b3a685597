import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { StartFailure } from '../sandbox/start-failure.ts'
import { mustRun } from './run.ts'

const SUPPORTED = /^3\.1[23]$/
const VERSION = 'import ensurepip, sys, venv; print("%d.%d" % sys.version_info[:2])'

const requirements = join(import.meta.dirname, 'requirements.txt')

/**
 * Returns the Python of a virtual environment with requirements.txt. The first call installs it into
 * the user's cache folder. @throws StartFailure without a suitable Python
 */
export const installedPython = async (
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<string> => {
  const { program, version } = findPython()
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'debit-collection')
  const hash = createHash('sha256')
    .update(version)
    .update(await readFile(requirements))
  const folder = join(cache, `python-${hash.digest('hex').slice(0, 16)}`)
  const python = join(folder, 'bin/python')
  if (existsSync(python)) return python

  print(`installs localstack/requirements.txt into ${folder}`)
  await mkdir(cache, { recursive: true })
  const draft = await mkdtemp(join(cache, 'install-'))
  try {
    await mustRun([program, '-m', 'venv', draft], { signal })
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
    const args = [...pip, '--require-hashes', '--requirement', requirements]
    await mustRun([join(draft, 'bin/python'), ...args], { signal })
    // Another process may have installed the same folder.
    await rename(draft, folder).catch((error) => {
      if (!existsSync(python)) throw error
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return python
}

/** Searches the PATH, and the versions of pyenv if the PATH has another Python. */
const findPython = (): { program: string; version: string } => {
  const pyenv = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions')
  const hasPython = spawnSync('python3', ['--version']).status === 0
  const installed = hasPython ? globSync(join(pyenv, '3.1[23].*/bin/python3')).sort().reverse() : []
  for (const program of ['python3.13', 'python3.12', 'python3', ...installed]) {
    const { stdout } = spawnSync(program, ['-c', VERSION], { encoding: 'utf8' })
    const version = stdout?.trim() ?? ''
    if (SUPPORTED.test(version)) return { program, version }
  }
  throw new StartFailure('Python 3.12 or 3.13 with venv is required on the PATH')
}
