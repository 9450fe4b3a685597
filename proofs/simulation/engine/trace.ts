import { createHash } from 'node:crypto'
import type { Clock } from '../../../sandbox/aws/clock.ts'

/** Hashes the events of a run, and prints them if requested. */

export type Trace = ReturnType<typeof newTrace>

const TOGETHER = 256

export const newTrace = (clock: Pick<Clock, 'now'>, print?: (line: string) => void) => {
  const hash = createHash('sha256')
  let lines: string[] = []
  const flush = (): void => {
    hash.update(lines.join('\n'))
    lines = []
  }
  return {
    log: (event: string): void => {
      const line = `${clock.now().toFixed(3)} ${event}`
      lines.push(line)
      if (lines.length >= TOGETHER) flush()
      print?.(`${new Date(clock.now()).toISOString()} ${event}`)
    },
    digest: (): string => {
      flush()
      return hash.digest('hex')
    },
  }
}
