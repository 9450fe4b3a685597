import { type ChildProcess, fork } from 'node:child_process'
import type { Task, TaskResult } from './worker.ts'

/** Runs allocate many short-lived objects. */
const WORKER_OPTIONS = ['--max-semi-space-size=64']

/**
 * Performs tasks in several processes.
 * @param onResult receives the results in no order; false stops the pool
 */
export const performTasks = async <T extends Task>(
  tasks: Iterator<T>,
  onResult: (result: TaskResult, task: T) => boolean,
  size: number,
): Promise<void> => {
  const children: ChildProcess[] = []
  const stop = (): void => {
    for (const child of children) child.kill('SIGKILL')
  }
  process.once('exit', stop)
  let isStopped = false
  const next = (): T | undefined => {
    const { value, done } = isStopped ? { value: undefined, done: true } : tasks.next()
    return done ? undefined : value
  }
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const child = fork(new URL('worker.ts', import.meta.url), { execArgv: WORKER_OPTIONS })
      children.push(child)
      let task: T | undefined
      child.on('message', (message: TaskResult | 'ready') => {
        if (message !== 'ready' && task && !onResult(message, task)) isStopped = true
        task = next()
        if (task) child.send(task)
        else child.disconnect()
      })
      child.on('exit', (code) => {
        if (code === 0) resolve()
        else reject(new Error(`A worker exited with ${code} during ${JSON.stringify(task)}`))
      })
    })
  try {
    await Promise.all(Array.from({ length: size }, work))
  } finally {
    stop()
    process.off('exit', stop)
  }
}
