import { type ChildProcess, fork } from 'node:child_process'
import type { Told, Wanted } from './worker.ts'

/** Processes that runWorld through worlds beside each other, each of them one at a time. */

/** What a world is made of is soon forgotten. */
const WORKER_OPTIONS = ['--max-semi-space-size=64']

/**
 * Has every wanted world lived through.
 * @param told what came of each, in no order; false: no more are wanted
 */
export const workThrough = async <W extends Wanted>(
  wanted: Iterator<W>,
  told: (one: Told, wanted: W) => boolean,
  size: number,
): Promise<void> => {
  const children: ChildProcess[] = []
  const stop = (): void => {
    for (const child of children) child.kill('SIGKILL')
  }
  process.once('exit', stop)
  let isOver = false
  const next = (): W | undefined => {
    const { value, done } = isOver ? { value: undefined, done: true } : wanted.next()
    return done ? undefined : value
  }
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const child = fork(new URL('worker.ts', import.meta.url), { execArgv: WORKER_OPTIONS })
      children.push(child)
      let inHand: W | undefined
      child.on('message', (heard: Told | 'ready') => {
        if (heard !== 'ready' && inHand && !told(heard, inHand)) isOver = true
        inHand = next()
        if (inHand) child.send(inHand)
        else child.disconnect()
      })
      child.on('exit', (code) => {
        if (code === 0) resolve()
        else reject(new Error(`A worker ended with ${code} at ${JSON.stringify(inHand)}`))
      })
    })
  try {
    await Promise.all(Array.from({ length: size }, work))
  } finally {
    stop()
    process.off('exit', stop)
  }
}
