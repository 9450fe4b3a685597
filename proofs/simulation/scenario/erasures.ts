import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { ApiCall, Erasure } from '../engine/observations.ts'
import type { Api } from '../peers/api.ts'
import { isDone, type Operators, resultOf } from '../peers/operators.ts'
import type { Scenario } from './scenario.ts'

/**
 * The erasure of all customers after a run, and its repetition after a restore: the other checks know
 * each debit by the texts of its charge.
 */

/** Another operator may deny a request. */
const REQUESTS_MAX = 9

type Deps = {
  api: Api
  operators: Operators
  items: () => readonly Item[]
  restoreTable: (at: number) => void
}

export const eraseCustomers = async (
  { scripts, erases }: Scenario,
  { api, operators: { operate }, items, restoreTable }: Deps,
  erasures: Erasure[],
): Promise<void> => {
  if (!erases) return
  const request = async (...words: Parameters<typeof operate>) => {
    let done: ApiCall | undefined
    for (let n = 0; n < REQUESTS_MAX && !done; n += 1) done = await operate(...words)
    return done
  }
  const list = await operate('exception', 'list', { status: 'open', limit: '1000' })
  for (const { reference } of (resultOf(list) ?? []) as { reference: string }[])
    await operate('exception', 'resolve', { reference, note: 'Closed' })
  const [before, since] = [items(), api.now()]
  await api.sleep(1)
  const phones: string[] = []
  for (const phone of new Set(scripts.map((script) => script.phone))) {
    const done = await request('customer', 'erase', { phone, reason: 'Request' })
    if (isDone(done)) phones.push(phone)
  }
  const note = () => erasures.push({ at: api.now(), phones, before, after: items() })
  note()
  restoreTable(since)
  const options = { since: new Date(since).toISOString() }
  const { refused, next } = resultOf(await request('customer', 'repeat-erasures', options)) ?? {}
  if (refused?.length === 0 && next === null) note()
}
