import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { functionRows } from '../../infra/definitions/functions.ts'

/** The counts of a debit under load, as the bench wrote them. */

const FIGURES = join(import.meta.dirname, '../bench/figures.md')

type Count = { written: number; read: number; invocations: number; gigabyteSeconds: number }

const memory = new Map(
  functionRows.map(({ name, memoryMegabytes }) => [name as string, memoryMegabytes]),
)

export const readCounts = (figures = readFileSync(FIGURES, 'utf8')) => {
  const [table = ''] = /^\| per debit under load .*?\n\n/ms.exec(figures) ?? []
  const rows = table.matchAll(/^\| `([^`]+)` +\|(.*)\|$/gm)
  const byFunction = new Map(
    [...rows].map(([, name = '', cells = '']): [string, Count] => {
      const [written = 0, read = 0, , invocations = 0, gigabyteSeconds = 0] = cells
        .split('|')
        .map(Number)
      return [name, { written, read, invocations, gigabyteSeconds }]
    }),
  )
  const [, minutes = ''] =
    /minutes of a million debits of one provider[ |]+([\d.]+)/.exec(figures) ?? []
  if (byFunction.size === 0 || minutes === '') throw new Error(`${FIGURES} has no counts`)
  const sum = (name: 'written' | 'read') =>
    [...byFunction.values()].reduce((total, count) => total + count[name], 0)
  /** Seconds of the executions of a debit. */
  const secondsIn = (name: string): number =>
    (byFunction.get(name)?.gigabyteSeconds ?? 0) / ((memory.get(name) ?? 0) / 1_024)
  const seconds = [...byFunction.keys()].reduce((total, name) => total + secondsIn(name), 0)
  return {
    written: sum('written'),
    read: sum('read'),
    seconds,
    secondsIn,
    settlementMinutes: Number(minutes),
  }
}

export type Counts = ReturnType<typeof readCounts>
