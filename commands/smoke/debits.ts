import { expectParts } from '../expect.ts'
import { findIn, paths } from './api.ts'
import {
  awaitStatus,
  charge,
  chargeBody,
  type GetDebit,
  INDEX_SECONDS,
  SUBMISSION_SECONDS,
} from './charges.ts'
import type { Smoke } from './checks.ts'
import { checkSettlement } from './settlement.ts'
import { checkWebhooks } from './webhooks.ts'

/** Checks of debits until their final status: completed by the bank, failed, reversed. */

/** The sandbox bank accepts debits of this number and never reports them (docs/api.md#sandbox). */
const SILENT_PHONE = '+233244444444'

/** The sandbox bank reports 30 s after the submission. */
const OUTCOME_SECONDS = 75

export const checkDebits = (smoke: Smoke) =>
  Promise.all([checkCompletion(smoke), checkFailure(smoke), checkReversal(smoke)])

/** Checks a debit that the bank completes by an update, another by a callback, and their settlement. */
const checkCompletion = async (smoke: Smoke) => {
  const { check, objects } = smoke
  const body = chargeBody(objects, { phone_number: SILENT_PHONE })
  const getDebit = await check('charge', () => charge(smoke, body))
  await checkCharged(smoke, body, getDebit)
  await checkReports(smoke, getDebit)
  await check('bank-callback', () => completeByCallback(smoke))
  await checkWebhooks(smoke, getDebit, 'completed')
  await checkSettlement(smoke, getDebit)
}

/** Checks a charge that is repeated, and its debit until the bank has accepted it. */
const checkCharged = async (
  smoke: Smoke,
  body: ReturnType<typeof chargeBody>,
  getDebit: GetDebit,
) => {
  const { check, within, api, objects } = smoke
  const { token, signing } = objects
  await check('replay', async () => {
    const { reference } = getDebit()
    const request = { path: paths.charge, token, body }
    const { headers } = await api.expect(request, 202, { data: { reference } })
    const replayed = headers.get('Idempotent-Replayed')
    expectParts({ 'Idempotent-Replayed': replayed }, { 'Idempotent-Replayed': 'true' })
  })
  await check('replay-with-other-body', async () => {
    const { reference } = getDebit()
    const request = { path: paths.charge, token, body: { ...body, amount: '101.00' } }
    await api.expect(request, 409, { error: { code: 3003 }, details: { reference } })
  })
  await check('submission', () =>
    awaitStatus(smoke, getDebit(), { status: 'processing', seconds: SUBMISSION_SECONDS }),
  )
  await check('foreign-debit', async () => {
    const path = paths.debit(getDebit().reference)
    const caller = { token: signing.token, signingSecret: signing.secret }
    await api.expect({ path, ...caller }, 404, { error: { code: 3404 } })
  })
  await check('list', () =>
    within(INDEX_SECONDS, async () => {
      const list = await api.read(`${paths.debits}?status=processing&per_page=100`, token)
      findIn(list, { reference: getDebit().reference })
    }),
  )
}

/** Checks the reports of a bank: the first, a repeated one, one that contradicts it. */
const checkReports = async ({ check, api, objects, operator }: Smoke, getDebit: GetDebit) => {
  const { token, bankToken } = objects
  const report = { bank_reference: 'SMOKE-1', approval_method: 'ussd' }
  const completed = { ...report, status: 'completed', fee: '1.50' }
  const failed = { status: 'failed', bank_reference: 'SMOKE-1', error_message: 'Smoke test' }
  const update = (body: object) => ({
    path: paths.update(getDebit().response.uuid),
    token: bankToken,
    body,
  })
  await check('bank-update', () =>
    api.expect(update(completed), 200, { data: { status: 'completed', fee: '1.50' } }),
  )
  await check('repeated-report', async () => {
    const path = paths.debit(getDebit().reference)
    const data = await api.read(path, token)
    await api.expect(update(completed), 200, { data: { status: 'completed' } })
    await api.expect({ path, token }, 200, { data })
  })
  await check('contradicting-report', () =>
    api.expect(update(failed), 422, { error: { code: 3001 } }),
  )
  await check('exception', async () => {
    const { reference } = getDebit()
    const resolved = await operator('exception', 'resolve', { reference, note: 'Smoke test' })
    expectParts(resolved, [{ kind: 'contradiction' }])
  })
}

const completeByCallback = async (smoke: Smoke) => {
  const { api, objects } = smoke
  const body = chargeBody(objects, { phone_number: SILENT_PHONE, amount: '50.00' })
  const debit = await charge(smoke, body)
  await awaitStatus(smoke, debit, { status: 'processing', seconds: SUBMISSION_SECONDS })
  const callback = { path: paths.callback(debit.response.uuid), token: objects.bankToken }
  const report = { bank_reference: 'SMOKE-2', approval_method: 'web' }
  for (const [reported, status] of [
    ['approved', 'processing'],
    ['completed', 'completed'],
  ]) {
    const request = { ...callback, body: { ...report, status: reported } }
    await api.expect(request, 200, { data: { status } })
  }
}

const checkFailure = async (smoke: Smoke) => {
  const { check, within, api, objects } = smoke
  const getDebit = await check('charge-above-balance', () =>
    charge(smoke, chargeBody(objects, { amount: '5000.01' })),
  )
  await check('failed-by-bank', async () => {
    const error_details = { code: 'insufficient_funds' }
    const expected = { status: 'failed', seconds: OUTCOME_SECONDS, error_details }
    await awaitStatus(smoke, getDebit(), expected)
  })
  await check('bank-list', () =>
    within(INDEX_SECONDS, async () => {
      const query = `phone_number=${encodeURIComponent(objects.phone)}&status=failed`
      type List = { transactions: unknown }
      const list = await api.read<List>(`${paths.bankList}?${query}`, objects.bankToken)
      findIn(list.transactions, { uuid: getDebit().response.uuid, amount: 5000.01 })
    }),
  )
  await checkWebhooks(smoke, getDebit, 'failed')
}

/** Checks a signed charge that the sandbox bank completes and an operator reverses. */
const checkReversal = async (smoke: Smoke) => {
  const { check, within, objects, operator } = smoke
  const caller = { token: objects.signing.token, signingSecret: objects.signing.secret }
  const getDebit = await check('signed-charge', () => charge(smoke, chargeBody(objects), caller))
  await check('completed-by-bank', () =>
    awaitStatus(smoke, getDebit(), { status: 'completed', seconds: OUTCOME_SECONDS }, caller),
  )
  await check('reversal', async () => {
    const options = { reference: getDebit().reference, reason: 'Smoke test' }
    expectParts(await operator('debit', 'reverse', options), { status: 'reversed' })
  })
  await check('refund', () =>
    within(SUBMISSION_SECONDS, async () => {
      const refund = { status: 'completed', amount: '100.00' }
      const { reference } = getDebit()
      expectParts(await operator('debit', 'show', { reference }), { refund })
    }),
  )
}
