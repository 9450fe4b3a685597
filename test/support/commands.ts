import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterEach, expect } from 'vitest'
import { eventually } from './eventually.ts'

/** Runs commands of the service in processes of their own, which share what they compiled. */

const { NODE_COMPILE_CACHE } = process.env

/** The Node of this process, and the oldest supported one if the machine has it. */
export const nodePaths = [
  ...new Set([process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter(existsSync)),
]

export type ScriptOutput = { code: number; stdout: string; stderr: string }

/** Runs a script until its end. */
export const runScript = (
  words: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  input?: string,
): Promise<ScriptOutput> => {
  const command = promisify(execFile)(process.execPath, words, {
    env: { NODE_COMPILE_CACHE, ...env },
  })
  command.child.stdin?.end(input)
  return command.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code: Number(code), stdout, stderr }),
  )
}

/** The environment of a command whose AWS is at a port of this machine. */
export const awsAt = (port: number) => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
  AWS_REGION: 'eu-west-1',
  ...{ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
})

/** Checks that a script exited with 1 and printed one line on standard error. */
export const expectOneLine = (
  { code, stdout, stderr }: ScriptOutput,
  text: string,
  expectedCode = 1,
): void => {
  expect({ code, stdout }).toEqual({ code: expectedCode, stdout: '' })
  expect(stderr).toContain(text)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
}

export type StartedScript = ReturnType<ReturnType<typeof useCommands>>

/** Returns a function that starts a script; SIGTERM stops it at the end of a test. */
export const useCommands = () => {
  const children: ChildProcess[] = []
  afterEach(async () => {
    const running = children
      .splice(0)
      .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
    await Promise.all(running.map((child) => [once(child, 'exit'), child.kill('SIGTERM')][0]))
  })
  return (words: readonly string[], env = process.env, program = process.execPath) => {
    // A group of its own gets a signal as from a terminal: npm and its command both get it.
    const detached = program === 'npm'
    const child = spawn(program, words, { env: { NODE_COMPILE_CACHE, ...env }, detached })
    children.push(child)
    const printed = { out: '', err: '' }
    child.stdout.on('data', (part) => {
      printed.out += part
    })
    child.stderr.on('data', (part) => {
      printed.err += part
    })
    return { child, printed, exited: once(child, 'close').then(([code]) => code as number | null) }
  }
}

/** The time in which a busy machine builds the bundles of all functions. */
const BUNDLES_SECONDS = 300

/** Waits until a command prints a line with one group, and returns the group. */
export const printedBy = ({ printed }: StartedScript, line: RegExp): Promise<string> =>
  eventually(() => {
    const text = line.exec(printed.out)?.[1]
    if (!text) throw new Error(`not ready: ${printed.err}`)
    return text
  }, BUNDLES_SECONDS)
