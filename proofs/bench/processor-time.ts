import { readFileSync } from 'node:fs'

/** Linux counts processor time in these units. */
const TICKS_PER_SECOND = 100

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended; its parent counts its time.
    return ''
  }
}

/** Returns the seconds of processor time of a process and of its present and former children. */
export const processorTime = (pid: number): number => {
  const fields = read(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? []
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0)
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)
  const nested = children.map(Number).map(processorTime)
  return nested.reduce((sum, seconds) => sum + seconds, own / TICKS_PER_SECOND)
}
