import { eventually, expectParts, required } from '../expect.ts'
import { findIn, paths } from './api.ts'
import {
  awaitStatus,
  type ChargedDebit,
  charge,
  chargeBody,
  INDEX_SECONDS,
  SUBMISSION_SECONDS,
} from './charges.ts'
import type { CheckDeps, CheckSequence } from './checks.ts'
import { settlementChecks } from './settlement.ts'
import { webhookChecks } from './webhooks.ts'

/** Checks of debits until their final status: completed by the bank, failed, reversed. */

/** The sandbox bank accepts debits of this number and never reports them (docs/api.md#sandbox). */
const SILENT_PHONE = '+233244444444'

/** The sandbox bank reports 30 s after the submission. */
const OUTCOME_SECONDS = 75

export const debitChecks = (deps: CheckDeps): CheckSequence[] => [
  completionChecks(deps),
  failureChecks(deps),
  reversalChecks(deps),
]

/** Checks a debit that the bank completes by an update, another by a callback, and their settlement. */
const completionChecks = (deps: CheckDeps): CheckSequence => {
  let debit: ChargedDebit | undefined
  const getDebit = () => required(debit, 'a debit')
  const body = chargeBody(deps.objects, { phone_number: SILENT_PHONE })
  return [
    {
      name: 'charge',
      run: async () => {
        debit = await charge(deps, body)
      },
    },
    ...chargedChecks(deps, body, getDebit),
    ...reportChecks(deps, getDebit),
    { name: 'bank-callback', run: () => completeByCallback(deps) },
    ...webhookChecks(deps, getDebit, 'completed'),
    ...settlementChecks(deps, getDebit),
  ]
}

/** Checks a charge that is repeated, and its debit until the bank has accepted it. */
const chargedChecks = (
  deps: CheckDeps,
  body: ReturnType<typeof chargeBody>,
  getDebit: () => ChargedDebit,
): CheckSequence => {
  const { api, objects, signal } = deps
  const { token } = objects
  return [
    {
      name: 'replay',
      run: async () => {
        const { reference } = getDebit()
        const request = { method: 'POST', path: paths.charge, token, body } as const
        const { headers } = await api.expect(request, 202, { data: { reference } })
        const replayed = headers.get('Idempotent-Replayed')
        expectParts({ 'Idempotent-Replayed': replayed }, { 'Idempotent-Replayed': 'true' })
      },
    },
    {
      name: 'replay-with-other-body',
      run: () => {
        const other = { ...body, amount: '101.00' }
        const request = { method: 'POST', path: paths.charge, token, body: other } as const
        const { reference } = getDebit()
        return api.expect(request, 409, { error: { code: 3003 }, details: { reference } })
      },
    },
    {
      name: 'submission',
      run: () =>
        awaitStatus(deps, getDebit(), { status: 'processing', seconds: SUBMISSION_SECONDS }),
    },
    {
      name: 'foreign-debit',
      run: () => {
        const path = paths.debit(getDebit().reference)
        const { token, secret } = objects.signing
        const request = { path, token, signingSecret: secret }
        return api.expect(request, 404, { error: { code: 3404 } })
      },
    },
    {
      name: 'list',
      run: () =>
        eventually(
          async () => {
            const path = `${paths.debits}?status=processing&per_page=100`
            const reply = await api.expect({ path, token }, 200)
            findIn(reply.body.data, { reference: getDebit().reference })
          },
          { seconds: INDEX_SECONDS, signal },
        ),
    },
  ]
}

/** Checks the reports of a bank: the first, a repeated one, one that contradicts it. */
const reportChecks = (
  { api, objects, operator }: CheckDeps,
  getDebit: () => ChargedDebit,
): CheckSequence => {
  const { token, bankToken } = objects
  const report = { status: 'completed', bank_reference: 'SMOKE-1', approval_method: 'ussd' }
  const failure = { status: 'failed', bank_reference: 'SMOKE-1', error_message: 'Smoke test' }
  const update = (content: object) =>
    ({
      method: 'POST',
      path: paths.update(getDebit().response.uuid),
      token: bankToken,
      body: content,
    }) as const
  return [
    {
      name: 'bank-update',
      run: () =>
        api.expect(update({ ...report, fee: '1.50' }), 200, {
          data: { status: 'completed', fee: '1.50' },
        }),
    },
    {
      name: 'repeated-report',
      run: async () => {
        const path = paths.debit(getDebit().reference)
        const before = (await api.expect({ path, token }, 200)).body.data
        await api.expect(update({ ...report, fee: '1.50' }), 200, { data: { status: 'completed' } })
        await api.expect({ path, token }, 200, { data: before })
      },
    },
    {
      name: 'contradicting-report',
      run: () => api.expect(update(failure), 422, { error: { code: 3001 } }),
    },
    {
      name: 'exception',
      run: async () => {
        const { reference } = getDebit()
        const resolved = await operator('exception', 'resolve', { reference, note: 'Smoke test' })
        expectParts(resolved, [{ kind: 'contradiction' }])
      },
    },
  ]
}

const completeByCallback = async (deps: CheckDeps): Promise<void> => {
  const { api, objects } = deps
  const body = chargeBody(objects, { phone_number: SILENT_PHONE, amount: '50.00' })
  const debit = await charge(deps, body)
  await awaitStatus(deps, debit, { status: 'processing', seconds: SUBMISSION_SECONDS })
  const callback = (content: object, status: string) => {
    const path = paths.callback(debit.response.uuid)
    const request = { method: 'POST', path, token: objects.bankToken, body: content } as const
    return api.expect(request, 200, { data: { status } })
  }
  const report = { bank_reference: 'SMOKE-2', approval_method: 'web' }
  await callback({ ...report, status: 'approved' }, 'processing')
  await callback({ ...report, status: 'completed' }, 'completed')
}

const failureChecks = (deps: CheckDeps): CheckSequence => {
  const { api, objects, signal } = deps
  let debit: ChargedDebit | undefined
  const getDebit = () => required(debit, 'a debit')
  return [
    {
      name: 'charge-above-balance',
      run: async () => {
        debit = await charge(deps, chargeBody(objects, { amount: '5000.01' }))
      },
    },
    {
      name: 'failed-by-bank',
      run: () =>
        awaitStatus(deps, getDebit(), {
          status: 'failed',
          seconds: OUTCOME_SECONDS,
          error_details: { code: 'insufficient_funds' },
        }),
    },
    {
      name: 'bank-list',
      run: () =>
        eventually(
          async () => {
            const query = `phone_number=${encodeURIComponent(objects.phone)}&status=failed`
            const path = `${paths.bankList}?${query}`
            const { body } = await api.expect({ path, token: objects.bankToken }, 200)
            const { transactions } = body.data as { transactions: unknown }
            findIn(transactions, { uuid: getDebit().response.uuid, amount: 5000.01 })
          },
          { seconds: INDEX_SECONDS, signal },
        ),
    },
    ...webhookChecks(deps, getDebit, 'failed'),
  ]
}

/** Checks a signed charge that the sandbox bank completes and an operator reverses. */
const reversalChecks = (deps: CheckDeps): CheckSequence => {
  const { objects, operator, signal } = deps
  const { token, secret } = objects.signing
  const caller = { token, signingSecret: secret }
  let debit: ChargedDebit | undefined
  const getDebit = () => required(debit, 'a debit')
  return [
    {
      name: 'signed-charge',
      run: async () => {
        debit = await charge(deps, chargeBody(objects), caller)
      },
    },
    {
      name: 'completed-by-bank',
      run: () =>
        awaitStatus(deps, getDebit(), { status: 'completed', seconds: OUTCOME_SECONDS }, caller),
    },
    {
      name: 'reversal',
      run: async () => {
        const { reference } = getDebit()
        const options = { reference, reason: 'Smoke test' }
        expectParts(await operator('debit', 'reverse', options), { status: 'reversed' })
      },
    },
    {
      name: 'refund',
      run: () =>
        eventually(
          async () => {
            const { reference } = getDebit()
            const refund = { status: 'completed', amount: '100.00' }
            expectParts(await operator('debit', 'show', { reference }), { refund })
          },
          { seconds: SUBMISSION_SECONDS, signal },
        ),
    },
  ]
}
