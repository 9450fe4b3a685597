import { type ChildProcess, fork } from 'node:child_process'
import type { Trial } from './trial.ts'
import type { Wanted } from './worker.ts'

/** Processes that live through worlds beside each other, each of them one at a time. */

export type Told = { trial: Omit<Trial, 'effects'> } | { seed: number; failure: string }

/** What a world is made of is soon forgotten. */
const WORKER_OPTIONS = ['--max-semi-space-size=64']

type Heard = Told | { ready: true }

/**
 * Has every wanted world lived through.
 * @param told what came of each, in no order; false: no more are wanted
 */
export const workThrough = async (
  wanted: Iterator<Wanted>,
  told: (one: Told, wanted: Wanted) => boolean,
  size: number,
): Promise<void> => {
  const children: ChildProcess[] = []
  const stop = (): void => {
    for (const child of children) child.kill('SIGKILL')
  }
  process.once('exit', stop)
  let isOver = false
  const next = (): Wanted | undefined => {
    const { value, done } = isOver ? { value: undefined, done: true } : wanted.next()
    return done ? undefined : value
  }
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const child = fork(new URL('worker.ts', import.meta.url), { execArgv: WORKER_OPTIONS })
      children.push(child)
      let inHand: Wanted | undefined
      child.on('message', (heard: Heard) => {
        if (!('ready' in heard) && inHand && !told(heard, inHand)) isOver = true
        inHand = next()
        if (inHand) child.send(inHand)
        else child.disconnect()
      })
      child.on('exit', (code) =>
        code === 0
          ? resolve()
          : reject(new Error(`A worker ended with ${code} at seed ${inHand?.seed}`)),
      )
    })
  try {
    await Promise.all(Array.from({ length: size }, work))
  } finally {
    stop()
    process.off('exit', stop)
  }
}
