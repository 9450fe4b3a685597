import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../../sandbox/localstack/dynamodb-local.ts'

/** Programs on free ports of 127.0.0.1, with data folders that end with them. */

export type Program = { pid: number; port: number; stop: () => Promise<void> }

const START_MS = 30_000
const POLL_MS = 100

/** Waits until a check no longer throws. @throws its last error */
export const until = async (check: () => unknown): Promise<void> => {
  for (let waited = 0; ; waited += POLL_MS) {
    try {
      await check()
      return
    } catch (error) {
      if (waited >= START_MS) throw error
      await pause(POLL_MS)
    }
  }
}

/** @throws Error unless the address answers 200 */
export const assertReady = async (url: string): Promise<void> => {
  const { status } = await fetch(url)
  if (status !== 200) throw new Error(`${url} answers ${status}`)
}

type Start = { command: string; args: readonly string[]; port: number }
type StartOptions = { env?: Record<string, string>; uid?: number; folder?: string }

export const startProgram = async (
  { command, args, port }: Start,
  { env, uid, folder }: StartOptions = {},
): Promise<Program> => {
  const child = spawn(command, args, {
    stdio: 'ignore',
    env: { ...process.env, ...env },
    ...(uid !== undefined && { uid }),
  })
  const exited = once(child, 'exit')
  await once(child, 'spawn')
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const stop = async () => {
    process.removeListener('exit', kill)
    child.kill('SIGINT')
    await exited
    if (folder) rmSync(folder, { recursive: true, force: true })
  }
  return { pid: child.pid ?? 0, port, stop }
}

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'peers-'))

/** Redis in memory alone. */
export const startRedis = async (): Promise<Program> => {
  const port = await freePort()
  const folder = newFolder()
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--dir', folder]
  return startProgram({ command: 'redis-server', args, port }, { folder })
}

const DATABASE_USER = 'postgres'

/** PostgreSQL with its default settings, and the `psql` and `pgbench` of the same version. */
export const startPostgres = async () => {
  const port = await freePort()
  const folder = newFolder()
  const binaries = execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim()
  // PostgreSQL refuses to run as root.
  const isRoot = process.getuid?.() === 0
  const uid = isRoot ? Number(execFileSync('id', ['-u', DATABASE_USER])) : undefined
  if (uid !== undefined) chownSync(folder, uid, -1)
  const options = { stdio: 'ignore' as const, ...(uid !== undefined && { uid }) }
  const initial = ['--auth', 'trust', '--username', DATABASE_USER, '--pgdata', folder]
  execFileSync(join(binaries, 'initdb'), initial, options)
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', `port=${port}`]
  const args = ['-D', folder, ...settings.flatMap((setting) => ['-c', setting])]
  const command = join(binaries, 'postgres')
  const program = await startProgram(
    { command, args, port },
    { folder, ...(uid !== undefined && { uid }) },
  )
  /** Runs a client program of PostgreSQL and returns its output. */
  const client = (
    name: 'psql' | 'pgbench',
    more: readonly string[],
    { input = '', env = {} } = {},
  ): string =>
    execFileSync(
      join(binaries, name),
      ['-h', '127.0.0.1', '-p', String(port), '-U', DATABASE_USER, ...more],
      { encoding: 'utf8', stdio: 'pipe', input, env: { ...process.env, ...env } },
    )
  await until(() => client('psql', ['-c', 'SELECT 1']))
  const url = `postgres://${DATABASE_USER}@127.0.0.1:${port}/postgres?sslmode=disable`
  return { ...program, url, client }
}
