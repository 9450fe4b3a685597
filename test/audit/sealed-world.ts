import { randomUUID } from 'node:crypto'
import { beforeEach } from 'vitest'
import { sealNight } from '../../shared/audit/seal.ts'
import { verifyDays } from '../../shared/audit/verify.ts'
import { type Day, dayAfter } from '../../shared/domain/time.ts'
import { createRun, findRun, markSealed } from '../../shared/store/settlement/reconciliations.ts'
import { at, objects } from '../reconciliation/one-day.ts'
import { still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'

/** Nights that seal days, and their verification. */

export const useSealedWorld = (): void => {
  beforeEach(async () => {
    objects.clear()
    await useFreshTable()
  })
}

const RESULT = { checked_at: '2026-11-22T02:00:00.000Z', differences: 0, invariants: [] }

/** Seals a day in the night after it, as the end of the reconciliation does. */
export const seal = async (date: Day): Promise<void> => {
  const runtime = still({ now: () => at(dayAfter(date), '02:00:05') })
  if (!(await findRun(date))) {
    const run = { id: date, date, startedAt: runtime.now(), providers: [] }
    await createRun({ ...run, carriedFrom: null, openParts: 0, endedAt: null }, randomUUID())
  }
  const sealed = await sealNight({ date, result: RESULT }, runtime)
  if (sealed) await markSealed(date, sealed.sha256)
}

/** Returns the results of days by their day. */
export const verified = async (from: Day, to: Day, now = at(dayAfter(to), '02:30:00')) => {
  const verdicts = await verifyDays({ from, to }, now, () => false)
  return Object.fromEntries((verdicts ?? []).map(({ day, result }) => [day, result]))
}

/** Changes the text of a stored object. */
export const rewrite = (key: string, change: (text: string) => string): void => {
  const object = objects.get(key)
  if (!object) throw new Error(`There is no object ${key}`)
  objects.set(key, { ...object, body: change(object.body) })
}
