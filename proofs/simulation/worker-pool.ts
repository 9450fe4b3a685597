import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Task, TaskResult } from './crash-points/worker.ts'

/** Runs allocate many short-lived objects. Threads of the collector would delay the other workers. */
const FLAGS = ['--max-semi-space-size=64', '--min-semi-space-size=64', '--single-threaded-gc']
const ROOT = join(import.meta.dirname, '../..')

type PoolOptions = {
  size: number
  /** A copy of the source; the output of its workers is discarded. */
  folder?: string
  /** The milliseconds after which a task hangs. */
  taskMax?: number
}

/**
 * Performs tasks in several processes.
 * @param onResult receives the results in no order; false stops the pool
 * @throws Error if a worker exits or hangs during a task
 */
export const performTasks = async <T extends Task>(
  tasks: Iterator<T>,
  onResult: (result: TaskResult, task: T) => boolean,
  { size, folder, taskMax }: PoolOptions,
): Promise<void> => {
  const children: ChildProcess[] = []
  const stop = (): void => {
    for (const child of children) child.kill('SIGKILL')
  }
  process.once('exit', stop)
  let isStopped = false
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const child = fork(join(folder ?? ROOT, 'proofs/simulation/crash-points/worker.ts'), {
        execArgv: FLAGS,
        cwd: folder,
        stdio: folder ? ['ignore', 'ignore', 'ignore', 'ipc'] : 'inherit',
      })
      children.push(child)
      const limit = taskMax && setTimeout(() => child.kill('SIGKILL'), taskMax)
      let task: T | undefined
      child.on('message', (message: TaskResult | 'ready') => {
        if (limit) limit.refresh()
        if (message !== 'ready' && task && !onResult(message, task)) isStopped = true
        const { value, done } = isStopped ? { done: true, value: undefined } : tasks.next()
        task = done ? undefined : value
        if (task) child.send(task)
        else child.disconnect()
      })
      child.on('exit', (code, signal) => {
        if (limit) clearTimeout(limit)
        const end = signal ? 'hangs' : `exited with ${code}`
        if (code === 0) resolve()
        else reject(new Error(`A worker ${end} during ${JSON.stringify(task)}`))
      })
    })
  try {
    await Promise.all(Array.from({ length: size }, work))
  } finally {
    stop()
    process.off('exit', stop)
  }
}
