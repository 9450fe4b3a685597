import type { Item } from '../../../sandbox/aws/table/change.ts'
import { isOpen, statuses } from '../../../shared/domain/debits/lifecycle.ts'
import type { ApiCall, Erasure } from '../engine/observations.ts'
import { HOUR_MS, MINUTE_MS } from '../invariants/time-and-money.ts'
import { isDone, resultOf, type Staff } from '../peers/operators.ts'
import type { Clients } from './clients.ts'
import { simulatedProviders } from './fixtures.ts'
import { repairDay } from './nights.ts'
import type { Scenario } from './scenario.ts'

/** A restore of the table to an earlier second, by the runbook of docs/restore.md#restore-the-table. */

/** Running jobs end within this time. */
const JOBS_MS = 15 * MINUTE_MS

/** A paused stage replies 503 and starts no job. */
export const newStage = () => {
  let isPaused = false
  let waiting: (() => void)[] = []
  return {
    isPaused: (): boolean => isPaused,
    resumed: (): Promise<void> =>
      isPaused ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(),
    pause: (): void => {
      isPaused = true
    },
    resume: (): void => {
      isPaused = false
      for (const start of waiting) start()
      waiting = []
    },
  }
}

export type Stage = ReturnType<typeof newStage>

type Tools = Pick<Staff, 'api' | 'operators'> & { restoreTable: (at: number) => void }

type Deps = Tools & { clients: Clients; stage: Stage }

type Listed = { reference: string; uuid: string }

export const newRestore = ({ api, operators, clients, stage, restoreTable }: Deps) => {
  /** Records the outcomes that the banks know of open debits. */
  const compareWithBanks = async (): Promise<void> => {
    for (const { id: provider } of simulatedProviders) {
      for (const status of statuses.filter(isOpen).reverse()) {
        const options = { provider, status, limit: '1000' }
        const list = await operators.operate('debit', 'list', options)
        for (const { reference, uuid } of (resultOf(list) ?? []) as Listed[]) {
          const outcome = clients.outcomeOf(uuid)
          const verb = outcome?.status === 'completed' ? 'complete' : 'fail'
          const recorded = {
            reference,
            'bank-reference': `B-${uuid.slice(0, 8)}`,
            reason: 'Statement',
          }
          if (outcome) await operators.operate('debit', verb, recorded)
        }
      }
    }
  }

  return {
    start: async ({ restore }: Scenario): Promise<void> => {
      if (!restore) return
      const { at, to } = restore
      await api.until(at)
      stage.pause()
      await api.sleep(JOBS_MS)
      restoreTable(to)
      await operators.operate('restore', 'begin', { generation: '2' })
      await compareWithBanks()
      for (const options of clients.reversedSince(to))
        await operators.operate('debit', 'reverse', options)
      await repairDay(operators, to)
      await api.sleep(2 * MINUTE_MS)
      stage.resume()
      // One at a time, while the others are held, then the rest.
      for (const { id: provider } of simulatedProviders.slice(1)) {
        await operators.operate('restore', 'release', { provider })
        await api.sleep(operators.random.between(0, 30 * MINUTE_MS))
      }
      await operators.operate('restore', 'release', {})
    },
  }
}

/** In some runs, the sweep erases the youngest debits after the request. */
export const eraseAfterDays = ({ seed }: Scenario): number => (seed % 2) * 3

/** The sweep erases each debit on its day, so that they are checked at several times. */
const SWEPT_MS = [10, 20, 30, 40].map((hours) => hours * HOUR_MS)

/** By then, the sweep has looked at each erased debit a last time. */
const LAST_CHECK_MS = 10 * MINUTE_MS

/** Another operator may deny a request. */
const REQUESTS_MAX = 9

/**
 * Erases all customers after a run, and again after a restore: the other checks know each debit by the
 * texts of its charge.
 */
export const eraseCustomers = async (
  scenario: Scenario,
  { api, operators: { operate }, items, restoreTable }: Tools & { items: () => readonly Item[] },
  erasures: Erasure[],
): Promise<void> => {
  if (!scenario.erases) return
  const afterDays = eraseAfterDays(scenario)
  const request = async (...words: Parameters<typeof operate>) => {
    let done: ApiCall | undefined
    for (let n = 0; n < REQUESTS_MAX && !done; n += 1) done = await operate(...words)
    return done
  }
  const list = await operate('exception', 'list', { status: 'open', limit: '1000' })
  for (const { reference = '', kind = '' } of (resultOf(list) ?? []) as Record<string, string>[])
    await operate('exception', 'resolve', { reference, kind, note: 'Closed' })
  const [before, since] = [items(), api.now()]
  await api.sleep(1)
  const phones: string[] = []
  const refused: string[] = []
  for (const phone of new Set(scenario.scripts.map((script) => script.phone))) {
    const done = await request('customer', 'erase', { phone, reason: 'Request' })
    if (isDone(done)) phones.push(phone)
    else if (done) refused.push(phone)
  }
  const note = async () => {
    await api.sleep(LAST_CHECK_MS)
    erasures.push({ at: api.now(), afterDays, phones, refused, before, after: items() })
  }
  for (const time of afterDays > 0 ? SWEPT_MS : [0]) {
    await api.until(scenario.endAt + time)
    await note()
  }
  if (afterDays > 0) return
  await api.sleep(JOBS_MS)
  restoreTable(since)
  const { highest_generation: highest } = resultOf(await operate('restore', 'show', {})) ?? {}
  await operate('restore', 'begin', { generation: String(highest + 1) })
  const options = { since: new Date(since).toISOString() }
  const { refused: unlike, next } =
    resultOf(await request('customer', 'repeat-erasures', options)) ?? {}
  if (unlike?.length === 0 && next === null) await note()
}
