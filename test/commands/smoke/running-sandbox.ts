import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { runScript } from '../../support/commands.ts'

/** Starts the sandbox command at a free port. */
export const startSandbox = async (...options: string[]) => {
  const args = ['commands/sandbox.ts', '--port', '0', ...options]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const address = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      if (line.startsWith('ready ')) resolve(line.slice('ready '.length))
    })
    child.on('exit', () => reject(new Error('The sandbox ended')))
  })
  const { port } = new URL(address)
  return {
    address,
    port,
    operator: async (...words: string[]) =>
      JSON.parse((await runScript(['commands/operator.ts', ...words, '--port', port])).stdout),
    stop: async (): Promise<void> => {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}
