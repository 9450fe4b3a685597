import { refuseCalls } from '../../sandbox/aws/sdk.ts'
import { openTable } from '../../sandbox/restored-books.ts'
import { StartFailure } from '../../sandbox/start-failure.ts'
import type { Finding } from '../../shared/domain/operator/finding.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { checkDays } from '../restore-check/check.ts'
import {
  copyName,
  listCopies,
  readVariables,
  removeCopy,
  restorableAt,
  restoreCopy,
} from './copy.ts'
import { refusalOf } from './guard.ts'

/** A drill: restores a table next to itself, checks the copy, and removes it (docs/restore.md#drill). */

export type Drill = {
  stage: string
  /** The restored second; by default the latest. */
  at: Date | undefined
  /** The days before it that are checked. */
  days: number
  signal: AbortSignal
  print: (line: string) => void
}

const MINUTE_MS = 60_000

const durationOf = (milliseconds: number): string =>
  `${Math.floor(milliseconds / MINUTE_MS)} min ${Math.round((milliseconds % MINUTE_MS) / 1_000)} s`

/** @returns whether every check holds. The copy is removed in any case. */
export const runDrill = async ({ stage, at: chosen, days, signal, print }: Drill) => {
  const copy = copyName(stage, new Date())
  const allowed = { copy, buckets: [] as (string | undefined)[] }
  refuseCalls((command) => refusalOf(command, allowed))
  const variables = await readVariables(stage)
  const { TABLE_NAME: source = '', AUDIT_BUCKET, REPORTS_BUCKET } = variables
  allowed.buckets.push(AUDIT_BUCKET, REPORTS_BUCKET)
  const [left] = await listCopies(stage)
  if (left) throw new StartFailure(`${left} exists: debit restore-drill --stage ${stage} --remove`)
  const at = await restorableAt(source, chosen)
  const startedAt = performance.now()
  print(`restores ${source} of ${at.toISOString()}, ${secondsSince(at)} s ago, to ${copy}`)
  let sound = false
  try {
    await restoreCopy({ source, copy, at, signal })
    const restored = performance.now() - startedAt
    print(`ok restored in ${durationOf(restored)}`)
    const host = await openTable({ tableName: copy, until: at }, variables)
    sound = await checkCopy({ host, at, days, signal, print })
    const whole = performance.now() - startedAt
    print(`recovery time ${durationOf(whole)}: restore ${durationOf(restored)}, then checks`)
  } finally {
    print(`removes ${copy}`)
    await removeCopy(copy)
    print('ok removed')
  }
  return sound
}

const secondsSince = (at: Date): number => Math.round((Date.now() - at.getTime()) / 1_000)

type CopyCheck = Pick<Drill, 'days' | 'signal' | 'print'> & {
  host: Awaited<ReturnType<typeof openTable>>
  at: Date
}

/** Prints a line for each day, and then for each invariant over all days. */
const checkCopy = async ({ host, at, days, signal, print }: CopyCheck): Promise<boolean> => {
  const totals = new Map<number, Finding>()
  let isSound = true
  for await (const check of checkDays(host, { on: dayOf(at), days, until: at })) {
    signal.throwIfAborted()
    for (const problem of check.problems) print(`FAIL ${check.name}: ${problem}`)
    if (check.problems.length === 0) print(`ok ${check.name}`)
    else isSound = false
    for (const { number, title, checked, differences } of check.invariants ?? []) {
      const total = totals.get(number) ?? {
        number,
        title,
        checked: 0,
        differences: 0,
        examples: [],
      }
      total.checked += checked
      total.differences += differences
      totals.set(number, total)
    }
  }
  for (const { number, title, checked, differences } of totals.values()) {
    if (differences > 0) isSound = false
    const result = differences > 0 ? `${differences} differences` : `${checked} checked`
    print(`${differences > 0 ? 'FAIL' : 'ok'} invariant ${number}: ${title}: ${result}`)
  }
  return isSound && totals.size > 0
}

/** Removes the copies that killed drills have left. */
export const removeCopies = async (stage: string, print: Drill['print']): Promise<void> => {
  for (const copy of await listCopies(stage)) {
    refuseCalls((command) => refusalOf(command, { copy, buckets: [] }))
    print(`removes ${copy}`)
    await removeCopy(copy)
  }
  print('ok removed')
}
