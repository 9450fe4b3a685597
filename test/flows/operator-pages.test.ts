import { beforeAll, expect, test } from 'vitest'
import { readReference } from '../../shared/domain/ids.ts'
import { dayAfter, dayOf } from '../../shared/domain/time.ts'
import { findExceptions, putException } from '../../shared/store/debits/exceptions.ts'
import { createProvider } from '../support/provider.ts'
import { SILENT } from '../support/requests.ts'
import { printed, type Shown, useService } from '../support/running-service.ts'
import { useSubscribers } from '../support/subscriber.ts'

/** The lists of the operator command in pages and days. */

const service = useService({ approvals: true })
const { subscribe } = useSubscribers(service)
const today = dayOf(new Date())

const [ama = '', kofi = ''] = ['ama', 'kofi'].map(
  (name) => `arn:aws:iam::123456789012:user/${name}`,
)

/** Reports a debit as completed, then as failed. */
const contradict = async (): Promise<string> => {
  const { reference, uuid } = await service.charge({ phone_number: SILENT })
  const report = { bank_reference: 'B-1', error_message: 'Declined' }
  await service.report(uuid, { ...report, status: 'completed' })
  await service.report(uuid, { ...report, status: 'failed' })
  return reference
}

/** Adds requests to the exception of a debit, in the same millisecond. */
const repeatException = async (text: string): Promise<void> => {
  const reference = readReference(text)
  const [exception] = reference ? await findExceptions(reference) : []
  if (!exception) throw new Error(`No exception of ${text}`)
  const request = { kind: 'refund', respondBy: today } as const
  for (const requestId of ['one', 'two', 'three'])
    await putException({ ...exception, kind: 'reversal_request', request, requestId })
}

const remit = async (reference: string): Promise<void> => {
  const options = { bank: 'GCB', amount: '1.00', reference, date: today }
  const { approval } = await service.call('funding', 'record', options, ama)
  await service.call('approval', 'grant', { id: approval.id }, kofi)
}

beforeAll(async () => {
  const { debit } = await subscribe('paged', { events: 'transaction.created' })
  for (const n of [1, 2, 3]) {
    await remit(`Remittance ${n}/2026 · collections of the week`)
    const reference = await contradict()
    if (n === 2) await service.call('exception', 'resolve', { reference, note: 'Known' }, ama)
    await debit('delivered')
    const provider = await createProvider(service, `paid-${n}`)
    const own = { phone_number: SILENT }
    const { uuid } = await service.charge(own, provider.credential)
    await service.report(uuid, { status: 'completed', bank_reference: `P-${n}` })
  }
  await service.call('settlement', 'run', { date: dayAfter(today) })
  await repeatException(await contradict())
})

/** Lists all rows in pages of a size. */
const inPages = async (noun: string, options: Record<string, string>, limit: string) => {
  const rows: Shown[] = []
  let cursor: string | undefined
  do {
    const reply = await service.operate(noun, 'list', {
      ...options,
      limit,
      ...(cursor && { cursor }),
    })
    const page = printed(reply)
    expect(page.length).toBeLessThanOrEqual(Number(limit))
    rows.push(...page)
    cursor = 'next_cursor' in reply ? reply.next_cursor : undefined
  } while (cursor)
  return rows
}

test.each([
  ['change', {}, 6],
  ['change', { bank: 'GCB' }, 3],
  ['approval', { status: 'granted' }, 3],
  ['exception', {}, 3],
  ['exception', { status: 'open' }, 6],
  ['exception', { kind: 'reversal_request' }, 3],
  ['settlement', {}, 4],
  ['settlement', { status: 'pending', provider: 'paid-1' }, 1],
  ['funding', {}, 3],
  ['delivery', { provider: 'paged' }, 3],
])(
  'the pages of “%s list” with %j have each row once, in the order of the list',
  async (noun, options, least) => {
    const all = await service.call(noun, 'list', { ...options, limit: '1000' })
    expect(all.length).toBeGreaterThanOrEqual(least)
    expect(await inPages(noun, options, '2')).toEqual(all)
    expect(await inPages(noun, options, '1')).toEqual(all)
  },
)

test.each([
  ['change', today],
  ['approval', today],
  ['exception', today],
  ['settlement', dayAfter(today)],
  ['funding', today],
])('the list “%s list” has the rows of its days alone', async (noun, day) => {
  const all = await service.call(noun, 'list')
  expect(await service.call(noun, 'list', { from: day, to: day })).toEqual(all)
  expect(await service.call(noun, 'list', { to: dayAfter(day, -1) })).toEqual([])
  expect(await service.call(noun, 'list', { from: dayAfter(day) })).toEqual([])
})

test('the credentials of a provider have pages, newest first, and a page has none of another owner', async () => {
  const owner = { provider: 'paid-1' }
  for (let n = 0; n < 3; n += 1) await service.call('credential', 'issue', owner, ama)
  const [rows, all] = [
    await inPages('credential', owner, '2'),
    await service.call('credential', 'list', owner),
  ]
  expect(rows).toEqual(all)
  expect(new Set(rows.map(({ id }) => id)).size).toBe(4)
  expect(new Set(rows.map((row) => row.owner))).toEqual(new Set(['paid-1']))
  const times = rows.map(({ created_at }) => created_at)
  expect(times).toEqual(times.toSorted().reverse())
  const reply = await service.operate('credential', 'list', { ...owner, limit: '1' })
  const cursor = ('next_cursor' in reply && reply.next_cursor) || ''
  const other = { provider: 'paid-2', cursor }
  expect(await service.refusal('credential', 'list', other)).toContain('--cursor')
})

test('a cursor belongs to the list and the filters of its call', async () => {
  const reply = await service.operate('change', 'list', { limit: '1' })
  const cursor = ('next_cursor' in reply && reply.next_cursor) || ''
  const refused = '--cursor: must be a cursor of this list'
  expect(await service.refusal('change', 'list', { bank: 'GCB', cursor })).toContain(refused)
  expect(await service.refusal('exception', 'list', { cursor })).toContain(refused)
  expect(await service.refusal('approval', 'list', { cursor })).toContain(refused)
  const day = { provider: 'demo', date: today }
  expect(await service.refusal('debit', 'repair', { ...day, cursor })).toContain(refused)
})
