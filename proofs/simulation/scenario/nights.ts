import { queueNames } from '../../../shared/queues/messages.ts'
import { type Engine, randomOfFault } from '../engine/faults.ts'
import { type Random, randomOf, seedOf } from '../engine/random.ts'
import {
  DAY_MS,
  dayOf,
  HOUR_MS,
  inGhs,
  MINUTE_MS,
  midnightAfter,
} from '../invariants/time-and-money.ts'
import type { Api, Request } from '../peers/api.ts'
import { type Operators, resultOf, type Staff } from '../peers/operators.ts'
import { simulatedProviders } from './fixtures.ts'
import { newRunbooks } from './runbooks.ts'
import type { Scenario } from './scenario.ts'
import { bankNames, HTTP_BANKS } from './script.ts'
import { needsRepair } from './setup.ts'

/** The work of operators, banks and providers at fixed times: settlements, rounds, remittances and audits. */

const RECONCILED_MS = 2 * HOUR_MS
export const RECONCILES = { triesMax: 3 }

type Nights = Engine & { operators: Operators }

/** Reads the debits of each bank in pages, to compare them with its statement. */
const compareStatements = async (operators: Operators, date: string): Promise<void> => {
  for (const bank of HTTP_BANKS) {
    let cursor: unknown = null
    do {
      const options = { bank, statement: JSON.stringify({ cursor }), date }
      cursor = resultOf(await operators.operate('reconciliation', 'statement', options))?.next
    } while (cursor)
  }
}

export const repairDay = async (operators: Operators, at: number): Promise<void> => {
  for (const { id: provider } of simulatedProviders)
    await operators.operate('debit', 'repair', { provider, date: dayOf(at) })
}

/** Schedules the operators' settlements in some nights, and the reconciliation of each day in the last one. */
export const startNights = (scenario: Scenario, { clock, random, faults, operators }: Nights) => {
  const { healAt, endAt, startAt } = scenario
  const firstNight = midnightAfter(startAt)
  for (let night = firstNight; night < healAt; night += DAY_MS) {
    clock.at(night + random.below(HOUR_MS), () => {
      if (!faults.strikes('operator settles')) return
      void operators.operate('settlement', 'run', { date: dayOf(night) })
    })
  }
  if (needsRepair(scenario)) {
    clock.at(healAt + MINUTE_MS, async () => {
      for (let at = startAt; at < midnightAfter(healAt); at += DAY_MS)
        await repairDay(operators, at)
    })
  }
  if (scenario.faults.has('dead letters redriven')) {
    const wait = randomOfFault(scenario.seed, 'dead letters redriven', 1).between(0, 20 * HOUR_MS)
    clock.at(healAt + wait, async () => {
      for (const queue of queueNames) {
        const call = await operators.operate('dead-letters', 'redrive', { queue })
        if (resultOf(call)?.moved > 0) faults.hit('dead letters redriven')
      }
    })
  }
  const lastNight = midnightAfter(endAt - 1) - DAY_MS
  clock.at(lastNight + RECONCILED_MS, async () => {
    for (let day = firstNight; day <= lastNight; day += DAY_MS) {
      const date = dayOf(day - DAY_MS)
      await operators.operate('reconciliation', 'run', { date }, RECONCILES)
      await operators.operate('day', 'close', { date }, RECONCILES)
    }
    await compareStatements(operators, dayOf(lastNight - DAY_MS))
    const span = { from: dayOf(firstNight - DAY_MS), to: dayOf(lastNight) }
    await operators.operate('ledger', 'show', { date: span.from, format: 'json' })
    await operators.operate('change', 'verify', span)
  })
}

type Recorded = { bank: string; reference: string; amount: string }

/** Records the remittances that the service lacks, and corrects those that differ, some with a typing error. */
const record = async ({ operators, books }: Staff, random: Random): Promise<void> => {
  const list = await operators.operate('funding', 'list', { limit: '100' })
  const recorded: Recorded[] = resultOf(list) ?? []
  for (const { bank, of: reference, amount: booked, at } of books.remittances()) {
    const right = -booked
    const known = recorded.findLast((one) => one.bank === bank && one.reference === reference)
    const typed = inGhs(random.pick([right, right, right * 10, Math.ceil(right / 10)]))
    const funding = { bank, reference }
    if (!known)
      await operators.operate('funding', 'record', { ...funding, amount: typed, date: dayOf(at) })
    const amounts = known && known.amount !== inGhs(right) ? [typed, inGhs(right)] : []
    for (const amount of new Set(amounts)) {
      const options = { ...funding, amount, reason: 'Typing error' }
      await operators.operate('funding', 'correct', options)
    }
  }
}

/** With the second one, payouts wait for the remittance of the day. */
const DELAYS_MS = [0, 40 * HOUR_MS]

/** The last half hour, without faults and other work. */
const AUDIT_MS = HOUR_MS / 2

type Page = {
  data?: { id: string; reference?: string }[]
  meta: { next_cursor?: string; has_more?: boolean; current_page?: number; total_pages?: number }
}

const perPage = {
  'list-debit-requests': '9',
  'list-events': '20',
  'list-settlements': '2',
} as const

/** The lists that operators read: of all providers or of one, of a status, of a day. */
const lists: readonly {
  noun: string
  owner?: string
  statuses?: readonly string[]
  isDated?: boolean
}[] = [
  { noun: 'change' },
  { noun: 'approval', statuses: ['pending', 'granted', 'denied', 'expired'] },
  { noun: 'exception', statuses: ['open', 'resolved'], isDated: true },
  { noun: 'delivery', owner: 'provider', statuses: ['abandoned'] },
  { noun: 'debit', owner: 'provider', isDated: true },
]

/** Reads a list to its end, by cursors or by page numbers. Returns its last page. */
const readPages = async (
  { query, ...request }: Request,
  api: Api,
  isNumbered = false,
): Promise<Page | undefined> => {
  let page: Page | undefined
  let next: Request['query'] = {}
  do {
    const call = await api.ask({ ...request, query: { ...query, ...next } })
    page = call?.reply?.body as Page | undefined
    const { next_cursor: cursor, current_page: number = 1 } = page?.meta ?? {}
    next = isNumbered ? { page: `${number + 1}` } : { ...(cursor && { cursor }) }
  } while (isNumbered ? Number(next.page) <= (page?.meta.total_pages ?? 0) : page?.meta.has_more)
  return page
}

/**
 * Each provider reads its lists page by page, then another one tries to read its batches. An operator
 * reads the lists of operators.
 */
const audit = async (
  { api, operators: { operate, random } }: Staff,
  { kind, startAt }: Scenario,
): Promise<void> => {
  for (const [index, { id }] of simulatedProviders.entries()) {
    const caller = { kind: 'provider' as const, id }
    const other = simulatedProviders[(index + 1) % simulatedProviders.length] ?? { id }
    let page: Page | undefined
    for (const [name, per_page] of Object.entries(perPage) as [keyof typeof perPage, string][]) {
      page = await readPages({ name, caller, query: { per_page } }, api)
      for (const { reference } of name === 'list-debit-requests' ? (page?.data ?? []) : [])
        await api.ask({ name: 'get-debit-request', caller, path: { reference: `${reference}` } })
    }
    for (const path of page?.data?.map((batch) => ({ id: batch.id })) ?? []) {
      for (const reader of [id, other.id])
        await api.ask({ name: 'get-settlement', caller: { ...caller, id: reader }, path })
      await api.ask({ name: 'get-settlement-report', caller, path, query: { format: 'json' } })
    }
    const months = [api.now(), api.now() - 4 * DAY_MS].map((at) => dayOf(at).slice(0, 7))
    for (const month of new Set(months)) {
      const query = { format: 'json' }
      await api.ask({ name: 'get-monthly-statement', caller, path: { month }, query })
    }
  }
  const readList = async (noun: string, named: Record<string, string>): Promise<void> => {
    let page: { result?: { id?: unknown }[]; next_cursor?: string } = {}
    do {
      const cursor = page.next_cursor
      const options = { ...named, limit: String(10 + random.below(30)), ...(cursor && { cursor }) }
      page = ((await operate(noun, 'list', options))?.reply?.body as typeof page) ?? {}
      const id = String(page.result?.[0]?.id)
      if (noun === 'delivery' && page.result?.[0]) await operate(noun, 'show', { id })
    } while (page.next_cursor)
  }
  // Most debits are charged in the first day and a half.
  const day = dayOf(startAt + random.between(0, 1.5 * DAY_MS))
  for (const { noun, owner, statuses = [], isDated } of lists) {
    for (const { id } of owner ? simulatedProviders : [{ id: '' }]) {
      const named = owner && { [owner]: id }
      for (const status of ['', ...statuses])
        await readList(noun, { ...named, ...(status && { status }) })
      if (isDated) await readList(noun, { ...named, from: day, to: day })
    }
  }
  const listed = { phone_number: '+233241234567', status: 'completed', per_page: '2' }
  // A page that is cut to its size is short, and a reader by numbers misses what it lacks.
  const isCut = kind === 'small sizes'
  for (const [index, id] of bankNames.entries()) {
    const request = { name: 'list-debit-transactions', query: listed } as const
    const caller = { kind: 'bank' as const, id }
    await readPages({ ...request, caller }, api, !isCut && index % 2 > 0)
  }
}

/** More than the general limit of an address. */
const UNMATCHED = 70

/** A scanner requests paths that do not exist, in one minute. */
const scan = async (api: Api): Promise<void> => {
  for (let n = 0; n < UNMATCHED; n += 1) {
    const identity = { sourceIp: '203.0.113.9' }
    const event = { path: `/api/v1/x${n}`, httpMethod: 'GET', requestContext: { identity } }
    const requested = { name: 'answer-unmatched', caller: undefined, path: {}, sent: {} } as const
    const { call, result } = await api.put(requested, event)
    const { statusCode: status = 500 } = (result.kind === 'done' ? result.value : {}) as {
      statusCode?: number
    }
    call.reply = { at: api.now(), status, headers: {}, body: {} }
  }
}

/** Schedules the rounds of operators, the remittances of banks at their times, and the audits of providers. */
export const startRounds = (scenario: Scenario, deps: Staff): void => {
  const { seed, rounds, endAt } = scenario
  const { api, books } = deps
  const follow = newRunbooks(deps)
  void api.until(endAt - AUDIT_MS).then(() => audit(deps, scenario))
  if (seed % 4 === 0) void api.until(endAt - AUDIT_MS).then(() => scan(api))
  for (const at of rounds) void api.until(at).then(follow)
  const random = randomOf(seedOf(seed, 10, 1))
  const delay = random.pick(DELAYS_MS)
  for (const at of rounds) {
    void api.until(at).then(() => {
      for (const bank of HTTP_BANKS) books.remit(bank, `REMITTANCE-${at}`, at - delay)
      return record(deps, random)
    })
  }
}
