import { createHash } from 'node:crypto'
import type { Clock } from './clock.ts'

/** Everything that happens in a world, in its order, as one hash; and as lines where they are wanted. */

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
    /** Of all that was told; nothing may be told after. */
    digest: (): string => {
      flush()
      return hash.digest('hex')
    },
  }
}
