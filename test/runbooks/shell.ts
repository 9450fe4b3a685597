import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { newFolder } from '../support/folders.ts'
import { isRehearsed } from './not-rehearsed.ts'
import { commandsOf } from './page.ts'

/** Runs commands of a page in a shell, with `test/runbooks/aws-cli.ts` as the AWS CLI. */

/** Returns the commands of a section that a shell runs, without those that no test runs. */
export const shellOf = (anchor: string): string[] => commandsOf(anchor).filter(isRehearsed)

/** The address of a sandbox or of a recorded AWS, of the sandbox in another Region, and files by name. */
type Shell = { address: string; replica?: string; files?: Record<string, string> }

export const runInShell = async (
  { address, replica = '', files = {} }: Shell,
  commands: readonly string[],
): Promise<string> => {
  const cwd = newFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
  const command = (file: string): string => `"${process.execPath}" "${resolve(file)}" "$@"`
  const preamble = `set -eu
    sleep() { :; }
    aws() { ${command('test/runbooks/aws-cli.ts')}; }
    operator() { ${command('commands/operator.ts')} --port ${new URL(address).port}; }`
  const variables = { AWS: address, REPLICA: replica, REPLICA_ARN: 'replica', STAGE: 'sandbox' }
  const env = { ...process.env, ...variables, SEALING_KEY: 'sealing-key' }
  const shell = spawn('bash', ['-c', [preamble, ...commands].join('\n')], { env, cwd })
  const printed: string[] = []
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (part) => printed.push(String(part)))
  }
  const [code] = await once(shell, 'close')
  expect(code, printed.join('')).toBe(0)
  return printed.join('')
}
