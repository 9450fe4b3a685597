import { beforeEach, expect, test } from 'vitest'
import { manageDebit } from '../../functions/operator/manage-debit.ts'
import { manageException } from '../../functions/operator/manage-exception.ts'
import { type ExceptionKind, openException } from '../../shared/domain/debits/exception.ts'
import type { OperatorReply } from '../../shared/operator/verbs.ts'
import { putException } from '../../shared/store/debits/exceptions.ts'
import { inSeconds, pendingDebit, still } from '../support/examples.ts'
import { storeDebit } from '../support/settings.ts'
import { useFreshTable } from '../support/tables.ts'

/** A bank whose reports are large, and all rejected (Lambda rejects a reply over 6 MB). */

process.env.SEALING_KEY = 'test'

beforeEach(useFreshTable)

const LAMBDA_REPLY_MAX = 6_291_556
const COUNT = 120

const debit = pendingDebit({})
const { facts } = debit
const storeReports = async (oldest: ExceptionKind = 'refused_report') => {
  const { reference, provider, amount } = facts
  for (let n = 0; n < COUNT; n += 1) {
    const kind = n === 0 ? oldest : 'refused_report'
    const opened: Parameters<typeof openException>[0] = {
      ...{ reference, provider, amount, bank: facts.bank.identifier, kind },
      ...{ at: inSeconds(n), by: 'bank:GCB', requestId: `request-${n}`, status: 'pending' },
      ...{ code: 1007, details: undefined, request: undefined },
      report: JSON.stringify({ status: 'completed', metadata: { text: 'x'.repeat(64_000), n } }),
    }
    await putException(openException(opened, undefined))
  }
}

type Shown = { request_id: string }
type Listed = Extract<OperatorReply, { result: unknown }> & { next_cursor?: string }

const call = async (verb: string, options: Record<string, string>): Promise<Listed> => {
  const reply = await manageException(still())({ verb, options } as never)
  expect(JSON.stringify(reply).length).toBeLessThan(LAMBDA_REPLY_MAX)
  return reply as Listed
}

const newestFirst = Array.from({ length: COUNT }, (_, n) => `request-${COUNT - 1 - n}`)
const idsOf = ({ result }: Listed) => (result as Shown[]).map(({ request_id }) => request_id)

test('a list of exceptions with large reports continues on the next page', async () => {
  await storeReports()
  const first = await call('list', {})
  expect(first.next_cursor).toBeDefined()
  const rest = await call('list', { cursor: first.next_cursor ?? '' })
  expect([...idsOf(first), ...idsOf(rest)]).toEqual(newestFirst)
})

test('the exceptions of a debit with large reports are shown from the newest', async () => {
  await storeReports()
  const shown = idsOf(await call('show', { reference: facts.reference }))
  expect(shown.length).toBeGreaterThan(50)
  expect(shown).toEqual(newestFirst.slice(0, shown.length))
})

test('a debit shows all kinds of its open exceptions, also one before a hundred repeats', async () => {
  await storeDebit(debit)
  await storeReports('refund')
  const options = { reference: facts.reference }
  const reply = await manageDebit(still())({ verb: 'show', options } as never)
  expect(reply).toMatchObject({ result: { open_exceptions: ['refund', 'refused_report'] } })
})

test('the exceptions of a debit with large reports are resolved', async () => {
  await storeReports()
  await call('resolve', { reference: facts.reference, note: 'Known' })
  const open = await call('list', { status: 'open' })
  expect(open.result).toEqual([])
})
