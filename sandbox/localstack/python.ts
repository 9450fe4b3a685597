import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { StartFailure } from '../start-failure.ts'
import { mustRun, ROOT } from './run.ts'

const VERSION = 'import ensurepip, sys, venv; print("%d.%d" % sys.version_info[:2])'

type PythonEnvironment = {
  /** From the project's folder, with hashes. */
  requirements: string
  /** Minor versions of Python 3, ascending. */
  minors: readonly number[]
}

export const stackTools: PythonEnvironment = {
  requirements: 'sandbox/localstack/requirements.txt',
  minors: [12, 13],
}

/**
 * Returns the Python of a virtual environment with the requirements. The first call installs it into
 * the user's cache folder. @throws StartFailure without a suitable Python
 */
export const installedPython = async (
  { requirements, minors }: PythonEnvironment,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<string> => {
  const { program, version } = findPython(minors)
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'debit-collection')
  const hash = createHash('sha256')
    .update(version)
    .update(await readFile(join(ROOT, requirements)))
  const folder = join(cache, `python-${hash.digest('hex').slice(0, 16)}`)
  const python = join(folder, 'bin/python')
  if (existsSync(python)) return python

  print(`installs ${requirements} into ${folder}`)
  await mkdir(cache, { recursive: true })
  const draft = await mkdtemp(join(cache, 'install-'))
  try {
    await mustRun([program, '-m', 'venv', draft], { signal })
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
    const args = [...pip, '--require-hashes', '--requirement', join(ROOT, requirements)]
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
const findPython = (minors: readonly number[]): { program: string; version: string } => {
  const versions = minors.map((minor) => `3.${minor}`).reverse()
  const pyenv = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions')
  const hasPython = spawnSync('python3', ['--version']).status === 0
  const patterns = versions.map((version) => join(pyenv, `${version}.*/bin/python3`))
  const installed = hasPython ? globSync(patterns).sort().reverse() : []
  for (const program of [
    ...versions.map((version) => `python${version}`),
    'python3',
    ...installed,
  ]) {
    const { stdout } = spawnSync(program, ['-c', VERSION], { encoding: 'utf8' })
    const version = stdout?.trim() ?? ''
    if (versions.includes(version)) return { program, version }
  }
  const [last, ...others] = versions
  throw new StartFailure(
    `Python ${others.reverse().join(', ')} or ${last} with venv is required on the PATH`,
  )
}
