import { beforeEach, expect, test } from 'vitest'
import { manageApproval } from '../../functions/operator/manage-approval.ts'
import { manageDelivery } from '../../functions/operator/manage-delivery.ts'
import { manageException } from '../../functions/operator/manage-exception.ts'
import { cursorFor, listHash } from '../../shared/api/pagination.ts'
import { wholeFacts } from '../../shared/domain/debits/debit.ts'
import { openException, type ReportException } from '../../shared/domain/debits/exception.ts'
import { type Approval, approvalId, expiryOf } from '../../shared/domain/operator/approval.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { newDelivery, recordAttempt } from '../../shared/domain/webhooks/delivery.ts'
import { debitsOf } from '../../shared/operator/customer-debits.ts'
import { refusalToErase } from '../../shared/operator/customer-erasure.ts'
import { operateFully } from '../../shared/operator/operate.ts'
import { putException } from '../../shared/store/debits/exceptions.ts'
import { keys } from '../../shared/store/keys.ts'
import { putApproval } from '../../shared/store/operator/approvals.ts'
import { put } from '../../shared/store/table.ts'
import { replaceDelivery } from '../../shared/store/webhooks/deliveries.ts'
import { appendToFeed } from '../../shared/store/webhooks/feed.ts'
import { gcb, inSeconds, NOON, pendingDebit, still, timing, webhook } from '../support/examples.ts'
import type { Shown } from '../support/running-service.ts'
import { storeBank, storeDebit, storeWebhook } from '../support/settings.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'

/** Lists of operators that years have made long. */

process.env.SEALING_KEY = 'a text for tests'

beforeEach(useFreshTable)

const DAY_SECONDS = 86_400

/** Returns the result of some work, and how many items its calls of the table returned. */
const counted = async <T>(work: () => Promise<T>) => {
  let items = 0
  const restore = aroundTableCalls(async (_, next) => {
    const reply = (await next()) as { Items?: unknown[]; Responses?: Record<string, unknown[]> }
    items += (reply.Items ?? Object.values(reply.Responses ?? {}).flat()).length
    return reply
  })
  return { reply: (await work().finally(restore)) as Shown, items }
}

const storeRequest = async (seconds: number, n: number): Promise<string> => {
  const requestedAt = inSeconds(seconds)
  const request: Approval = {
    id: approvalId(requestedAt, String(n).padStart(8, '0')),
    ...{ noun: 'debit', verb: 'reverse', target: 'D', options: {}, decision: 'pending' },
    ...{ requestedBy: 'local:ama', requestedAt, expiresAt: expiryOf(requestedAt) },
  }
  await putApproval(request, {}, [], still())
  return request.id
}

test('the requests that wait are listed without a read of those that have expired', async () => {
  for (let day = 2; day <= 300; day += 1) await storeRequest(-day * DAY_SECONDS, day)
  await storeRequest(-DAY_SECONDS, 1)
  const ids = [await storeRequest(0, 0), await storeRequest(1 - DAY_SECONDS, 1)]
  const list = (options: Record<string, string>) =>
    counted(() => manageApproval(still())({ verb: 'list', options, actor: 'local:ama' } as never))
  const { reply, items } = await list({ status: 'pending' })
  expect(reply.result.map(({ id }: Shown) => id)).toEqual(ids)
  expect(items).toBeLessThan(5)
  const today = NOON.toISOString().slice(0, 10)
  const days = await list({ status: 'pending', from: today, to: today })
  expect(days.reply.result.map(({ id }: Shown) => id)).toEqual(ids.slice(0, 1))
  const earlier = await list({ status: 'pending', to: '2026-01-31' })
  expect(earlier.reply.result).toEqual([])
})

test('an erasure reads only the last pages of the requests', async () => {
  for (let day = 0; day < 300; day += 1) await storeRequest(-day * DAY_SECONDS, day)
  const author = { id: 'c-1', at: NOON, by: 'local:ama', noun: 'customer', verb: 'erase' }
  const { phone } = wholeFacts(pendingDebit())
  const { reply, items } = await counted(() => refusalToErase({ phone }, author, still()))
  expect(reply).toBeUndefined()
  expect(items).toBeLessThan(150)
})

/** Returns a runtime whose clock is six seconds later at each look: a list ends after three reads. */
const hurried = () => {
  let seconds = 0
  const wallTime = () => {
    seconds += 6
    return inSeconds(seconds)
  }
  return still({ wallTime })
}

const { facts } = pendingDebit()
const PROVIDER = facts.provider

const exceptionAt = (second: number, n: number): ReportException =>
  openException(
    {
      ...{
        reference: facts.reference,
        provider: PROVIDER,
        amount: facts.amount,
        bank: facts.bank.identifier,
      },
      ...{ at: inSeconds(second), by: 'bank:GCB', requestId: `request-${n}`, status: 'pending' },
      ...{ code: 1007, details: undefined, request: undefined, report: '{}' },
      kind: n === 0 ? 'contradiction' : 'refused_report',
    },
    undefined,
  )

/** Stores exceptions, of which the oldest has a kind of its own. */
const storeExceptions = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await putException(exceptionAt(n, n))
}

/** Stores events of a day with their deliveries, of which the oldest is abandoned. */
const storeDeliveries = async (count: number): Promise<void> => {
  const events = Array.from({ length: count }, (_, n) => pendingDebit({}, inSeconds(n)).facts)
  const entries = events.map(({ reference }) => ({ reference, n: 0 }))
  await appendToFeed(PROVIDER, entries, NOON)
  for (const [index, { reference }] of events.entries()) {
    const event = {
      reference,
      n: 0,
      provider: PROVIDER,
      type: 'created',
      at: inSeconds(index),
    } as const
    const outcome = { kind: 'answered', code: index === 0 ? 410 : 200, body: '' } as const
    const delivery = recordAttempt(newDelivery(event, {}), outcome, timing, 0)
    await replaceDelivery(undefined, delivery)
  }
}

/** Reads all pages of a list, each until its time is up. */
const pagesOf = async (
  manage: typeof manageException | typeof manageDelivery,
  options: Record<string, string>,
) => {
  const pages: Shown[][] = []
  for (let cursor: string | undefined; ; ) {
    const call = { verb: 'list', options: { ...options, ...(cursor && { cursor }) } }
    const reply: Shown = await manage(hurried())(call as never)
    pages.push(reply.result)
    cursor = reply.next_cursor
    if (!cursor) return pages
  }
}

test('a list with few matches ends in time with a short page, and continues after it', async () => {
  await storeExceptions(750)
  const pages = await pagesOf(manageException, { kind: 'contradiction' })
  expect(pages.map((page) => page.length)).toEqual([0, 0, 1])
  expect(pages[2]?.[0]).toMatchObject({ kind: 'contradiction' })
})

test('a list of deliveries in a status ends in time, and continues after events without a delivery', async () => {
  await storeDeliveries(700)
  await appendToFeed(
    PROVIDER,
    Array.from({ length: 700 }, () => ({ reference: pendingDebit().facts.reference, n: 0 })),
    NOON,
  )
  const pages = await pagesOf(manageDelivery, { provider: PROVIDER, status: 'failed' })
  expect(pages.length).toBeGreaterThan(3)
  expect(pages.flat()).toEqual([])
})

test('the abandoned deliveries of a provider are listed without a read of the delivered ones', async () => {
  await storeDeliveries(1_000)
  const options = { provider: PROVIDER, status: 'abandoned' }
  const list = () => manageDelivery(still())({ verb: 'list', options } as never)
  const { reply, items } = await counted(list)
  expect(reply.result).toMatchObject([{ status: 'abandoned', response_code: 410 }])
  expect(items).toBeLessThan(10)
})

test('a month with more exceptions than a call can read is counted in several calls', async () => {
  // The last one is of the next month.
  const seconds = [0, 1, 5, 5, 9, 10].map((day) => day * DAY_SECONDS)
  const request = { kind: 'refund', respondBy: dayOf(NOON) } as const
  for (const [n, second] of seconds.entries()) {
    const { reference } = pendingDebit().facts
    await putException({ ...exceptionAt(second, n), reference, kind: 'reversal_request', request })
  }
  const options = { month: '2026-11' }
  const calls: Record<string, string>[] = []
  const reply = await operateFully(
    { noun: 'exception', verb: 'summary', options },
    async (call) => {
      calls.push(call.options)
      return manageException(hurried())(call as never)
    },
  )
  expect(reply).toMatchObject({ result: { ...options, refund: { opened: 5, open: 5 } } })
  expect(reply).toMatchObject({ result: { complaint: { opened: 0 } } })
  expect(calls.length).toBeGreaterThan(3)
  const cut = Buffer.from(calls[1]?.cursor ?? '', 'base64url').subarray(0, -1)
  const cursor = cut.toString('base64url')
  const noDay = cursorFor(listHash('exception summary', '', options), '2026-11-31')
  for (const wrong of [cursor, noDay]) {
    const damaged = { verb: 'summary', options: { ...options, cursor: wrong } }
    expect(await manageException(still())(damaged as never)).toMatchObject({
      error: expect.stringMatching(/^--cursor: /),
    })
  }
})

test('a recovery counts ten thousand missed events before it begins, without their entries', async () => {
  await storeWebhook(PROVIDER, webhook)
  for (let n = 0; n <= 10_000; n += 1) {
    const byTime = `${inSeconds(-n).toISOString()}#${facts.reference}#0`
    const entry = { byStatus: keys.undelivered(PROVIDER), byTime }
    await put({ pk: `EVENT#${n}`, sk: 'EVENT' }, 'delivery', entry)
  }
  const options = { provider: PROVIDER, since: inSeconds(-DAY_SECONDS).toISOString() }
  const recover = () => manageDelivery(still())({ verb: 'recover', options } as never)
  const { reply, items } = await counted(recover)
  expect(reply.result).toMatchObject({ deliveries: 10_000, is_at_least: true })
  expect(items).toBe(0)
  const calls: string[] = []
  const restore = aroundTableCalls((name, next) => {
    calls.push(name)
    return name === 'Query' ? Promise.reject(new Error('throttled')) : next()
  })
  await expect(recover().finally(restore)).rejects.toThrow()
  expect(calls.join(' ')).not.toContain('Put')
})

test('all debits of a customer are read, however many the customer has at one bank', async () => {
  await storeBank(gcb)
  const debits = Array.from({ length: 2_001 }, (_, n) => pendingDebit({}, inSeconds(n)))
  for (const debit of debits) await storeDebit(debit)
  const [first] = debits
  const found = first ? await debitsOf(wholeFacts(first).phone) : []
  expect(found).toHaveLength(debits.length)
})
