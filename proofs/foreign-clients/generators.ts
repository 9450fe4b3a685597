import { execFile, spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { installedPython } from '../../sandbox/localstack/python.ts'

/** Builds clients and a bank with generators of others, in a folder that is removed. */

/** Waits without blocking the service, which runs in this process. */
const run = promisify(execFile)

const FOLDER = import.meta.dirname
const DESCRIPTION = resolve('docs/openapi.json')

const newWorkFolder = (): string => {
  // Modules of the generated clients resolve here.
  const cache = resolve('proofs/node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  return mkdtempSync(join(cache, 'client-'))
}

const pythonWithGenerators = (): Promise<string> => {
  const environment = {
    requirements: 'proofs/foreign-clients/requirements.txt',
    minors: [11, 12, 13, 14],
  }
  return installedPython(environment, () => {}, new AbortController().signal)
}

/** The generators: each returns the command that makes calls with the client that it built. */
const generators: Record<Generator, (work: string) => Promise<string[]>> = {
  'openapi-python-client': async (work: string) => {
    const python = await pythonWithGenerators()
    const words = ['generate', '--path', DESCRIPTION, '--output-path', join(work, 'client')]
    await run(python, ['-m', 'openapi_python_client', ...words, '--meta', 'none', '--overwrite'])
    return [python, join(FOLDER, 'call.py')]
  },
  'openapi-typescript': async (work: string) => {
    const bin = resolve('proofs/node_modules/openapi-typescript/bin/cli.js')
    // Another folder, because the generator applies the rules of redocly.yaml.
    const words = [bin, DESCRIPTION, '-o', join(work, 'api.d.ts')]
    await run(process.execPath, words, { cwd: work })
    copyFileSync(join(FOLDER, 'call.mts'), join(work, 'call.mts'))
    writeFileSync(join(work, 'package.json'), '{"type":"module"}')
    const options = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext']
    const files = ['--target', 'es2022', '--types', 'node', join(work, 'call.mts')]
    await run(resolve('node_modules/.bin/tsc'), ['--ignoreConfig', ...options, ...files])
    return [process.execPath, join(work, 'call.mjs')]
  },
}

export const generatorNames = ['openapi-python-client', 'openapi-typescript'] as const
export type Generator = (typeof generatorNames)[number]

/** Builds a client and starts the process that makes calls with it. */
export const startClient = async (generator: Generator, address: string) => {
  const work = newWorkFolder()
  const words = await generators[generator](work)
  const child = spawn(words[0] ?? '', [...words.slice(1), address], {
    env: { ...process.env, PYTHONPATH: work },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    /** Sends a call as a line of JSON and returns the answer of the process. */
    call: async (row: object): Promise<unknown> => {
      child.stdin.write(`${JSON.stringify(row)}\n`)
      return JSON.parse((await lines.next()).value ?? '')
    },
    stop: () => {
      child.kill()
      rmSync(work, { recursive: true, force: true })
    },
  }
}

/** Generates a server from docs/bank-protocol.json, and starts it with the code of bank.py. */
export const startBank = async (port: number, secret: string, phone: string) => {
  const work = newWorkFolder()
  const python = await pythonWithGenerators()
  const words = ['-i', resolve('docs/bank-protocol.json'), '-g', 'python-fastapi', '-o', work]
  const call = 'import openapi_generator_cli; openapi_generator_cli.cli()'
  await run(python, ['-c', call, 'generate', ...words])
  const child = spawn(python, ['-W', 'ignore', join(FOLDER, 'bank.py'), String(port), phone], {
    env: { ...process.env, PYTHONPATH: join(work, 'src'), CONNECTOR_SECRET: secret },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return {
    stop: () => {
      child.kill()
      rmSync(work, { recursive: true, force: true })
    },
  }
}
