import { expect, onTestFinished, test } from 'vitest'
import { withSeparators } from '../../console/page/amounts.ts'
import { dayAfter, dayOf } from '../../shared/domain/time.ts'
import { SILENT } from '../support/requests.ts'
import { type Shown, useService } from '../support/running-service.ts'
import { legibilityFindings } from './browser.ts'
import { call, failCalls, reloadWith, rowsOf, submit, useConsole } from './console.ts'

/** The console's approvals, in Chromium. */

const service = useService({ approvals: true, timeScale: 60 })
const { openScreen, expectProblem } = useConsole(service)

const completed = async (fields = {}): Promise<string> => {
  const { reference } = await service.charge(fields)
  await service.until(reference, 'completed')
  return reference
}

test('a reversal waits for a second operator, who sees amount and parties', async () => {
  const page = await openScreen('approvals')
  await page.getByText('No requests').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  const reference = await completed()
  await page.goto(`${service.sandbox().address}/console#/debit/${reference}`)
  await call(page, 'Reverse', { Reason: 'Dispute' })
  await page.getByText('waits for a second operator').waitFor()
  await page.getByRole('link', { name: 'Reverse: requested' }).waitFor()
  expect(await page.getByRole('button', { name: 'Reverse' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Approvals' }).click()
  const row = rowsOf(page, 'Requests').filter({ hasText: reference })
  await row.getByText('pending').waitFor()
  await row.getByText('amount: 100.00').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  expect(await row.getByRole('button').allInnerTexts()).toEqual(['Deny'])
  await page.getByText('its requester can only deny it').waitFor()
  const operator = page.getByLabel('Act as operator')
  await operator.fill('Kofi A')
  await operator.press('Enter')
  await page.getByText('“Kofi A” is not a valid name: it must have').waitFor()
  expect(await operator.inputValue()).toBe('')
  await operator.fill('kofi')
  await operator.press('Enter')
  await row.getByRole('button', { name: 'Grant' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('100.00 GHS').waitFor()
  await dialog.locator('dd', { hasText: /^demo$/ }).waitFor()
  await dialog.getByText(/customer \+233\*+4567 at GCB/).waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await dialog.getByText(/^OPERATOR_NAME=kofi .* approval grant --id/).waitFor()
  await submit(page, 'Grant')
  const result = page.getByRole('region', { name: 'Result of approval grant' })
  await result.getByText('"status": "reversed"').waitFor()
  await row.getByText('granted').waitFor()
  await row.getByText('local:kofi').waitFor()
  expect((await service.show(reference)).status).toBe('reversed')
})

test('a denied request shows its reason and runs nothing', async () => {
  const reference = await completed({ amount: 1234.56 })
  const options = { reference, reason: 'Dispute' }
  await service.call('debit', 'reverse', options, 'local:ama')
  const page = await openScreen('approvals?status=pending')
  const row = rowsOf(page, 'Requests').filter({ hasText: reference })
  await row.getByText('amount: 1,234.56').waitFor()
  await call(row, 'Deny', { Reason: 'Wrong debit' })
  await page.getByText('No request matches these filters').waitFor()
  await page.getByLabel('Status').selectOption('denied')
  await row.getByText('Wrong debit').waitFor()
  expect((await service.show(reference)).status).toBe('completed')
})

test('a call about many shows its count, sum and digest, and names no debit', async () => {
  await service.chargeCompletedLate()
  const day = dayOf(service.sandbox().control.clock.now())
  const selection = { kind: 'late_completion', bank: 'GCB', from: day, to: day }
  const { approval } = await service.call('exception', 'refund', selection, 'local:ama')
  const page = await openScreen('approvals?status=pending')
  const row = rowsOf(page, 'Requests').filter({ hasText: 'exception refund' })
  await row.getByText('count: 1').waitFor()
  await row.getByText('sum: 100.00').waitFor()
  expect(await row.getByRole('link').count()).toBe(0)
  await row.getByRole('button', { name: 'Grant' }).click()
  await page.getByRole('dialog').getByText(`digest: ${approval.scope.digest}`).waitFor()
  expect(await legibilityFindings(page)).toEqual([])
})

test('the refund of a late completion is granted with its bank as the payer', async () => {
  const { reference } = await service.chargeCompletedLate()
  await service.call('exception', 'refund', { reference }, 'local:ama')
  const page = await openScreen('approvals?status=pending')
  await rowsOf(page, 'Requests')
    .filter({ hasText: reference })
    .getByRole('button', { name: 'Grant' })
    .click()
  await page.getByRole('dialog').locator('dd', { hasText: /^GCB$/ }).waitFor()
})

/** Opens the dialog that grants the only pending request with a text. */
const openGrant = async (text: string, settings?: object) => {
  const page = await openScreen('approvals?status=pending')
  if (settings) await reloadWith(page, settings)
  const row = rowsOf(page, 'Requests').filter({ hasText: text })
  await row.getByRole('button', { name: 'Grant' }).click()
  return page.getByRole('dialog')
}

/** Returns the batch of all completed debits of a provider. */
const settleDebitsOf = async (provider: string): Promise<Shown> => {
  const date = dayAfter(dayOf(service.sandbox().control.clock.now()))
  await service.call('settlement', 'run', { date, provider })
  return (await service.call('settlement', 'list', { provider }))[0]
}

/** Disables a provider during a test, so that a payout can be recorded. */
const hold = async (provider: string): Promise<void> => {
  await service.call('provider', 'disable', { provider }, 'local:ama')
  onTestFinished(async () => {
    const { approval } = await service.call('provider', 'enable', { provider }, 'local:ama')
    if (approval) await service.call('approval', 'grant', { id: approval.id }, 'local:kofi')
  })
}

test('the dialog that grants a payout shows its amount and its account', async () => {
  const credential = 'sk_sandbox_other'
  const settle = async (count: number): Promise<Shown> => {
    for (let n = 0; n < count; n += 1) await service.chargeCompleted({}, credential)
    return settleDebitsOf('other')
  }
  const { lines } = await service.call('settlement', 'report', { batch: (await settle(1)).id })
  const reversal = { reference: lines[0].reference, reason: 'Dispute' }
  const { approval } = await service.call('debit', 'reverse', reversal, 'local:ama')
  await service.call('approval', 'grant', { id: approval.id }, 'local:kofi')
  const { net: below } = await settle(0)
  const { id, net } = await settle(2)
  const amount = (Number(net) + Number(below)).toFixed(2)
  const { settlement_account } = await service.call('provider', 'show', { provider: 'other' })
  await service.call('settlement', 'process', { batch: id }, 'local:ama')
  const early = await openGrant('settlement process')
  await early.getByText(`${amount} GHS`, { exact: true }).waitFor()
  await early.getByText(settlement_account.account_number).waitFor()
  const recorded = { batch: id, amount, 'bank-reference': 'X1', reason: 'By hand' }
  await hold('other')
  await service.call('settlement', 'complete', recorded, 'local:ama')
  const byHand = await openGrant('settlement complete')
  await byHand.getByText(`${amount} GHS`, { exact: true }).waitFor()
  await byHand.getByText(settlement_account.account_number).waitFor()
  for (const text of ['X1', 'By hand']) await byHand.getByText(text, { exact: true }).waitFor()
})

test('a requester who may not read approvals keeps the button; an approver who may not read the batch sees all options', async () => {
  await completed()
  const { id, net } = await settleDebitsOf('demo')
  await hold('demo')
  const requester = await openScreen(`batch/${id}`)
  await reloadWith(requester, { nouns: ['settlement'] })
  await requester.getByLabel('Act as operator').fill('ama')
  await requester.keyboard.press('Enter')
  const recorded = { 'Bank reference': 'X2', Amount: net, Reason: 'By hand' }
  await call(requester, 'Record payout', recorded)
  await requester.getByText(/waits for a second operator\.$/).waitFor()
  await requester.getByRole('button', { name: 'Record payout' }).waitFor()
  const dialog = await openGrant(id, { nouns: ['approval'] })
  await dialog.getByText(`amount: ${withSeparators(net)}`).waitFor()
  await dialog.getByText('bank-reference: X2').waitFor()
})

test.each([
  [
    'reverse',
    { refund: 'none' },
    'The customer gets no refund. The next batch takes',
    'Never debited',
  ],
  ['fail', { 'bank-reference': 'GCB-77' }, 'No money moves.', 'GCB-77'],
] as const)(
  'the dialog that grants debit %s with %o says what happens to the money',
  async (verb, more, terms, text) => {
    const { reference } =
      verb === 'fail'
        ? await service.chargeUntil('processing', { phone_number: SILENT })
        : await service.chargeCompleted()
    const options = { reference, reason: 'Never debited', ...more }
    await service.call('debit', verb, options, 'local:ama')
    const dialog = await openGrant(reference)
    await dialog.getByText(terms).waitFor()
    await dialog.getByText(text, { exact: true }).waitFor()
    expect(await dialog.getByText(/\d GHS/).count()).toBe(0)
  },
)

test('the dialog that grants a changed account shows the one before it, or the failure of its read', async () => {
  const account = { 'settlement-bank': 'ECO', 'settlement-account': '2050001112' }
  const names = { name: 'demo', 'settlement-name': 'Demo Payments Ltd' }
  await service.call('provider', 'update', { provider: 'demo', ...account, ...names }, 'local:ama')
  const page = await openScreen('approvals?status=pending')
  const restore = await failCalls(page, '"provider","verb":"show"')
  const row = rowsOf(page, 'Requests').filter({ hasText: 'provider update' })
  await row.getByText('name: demo', { exact: true }).waitFor()
  await row.getByRole('button', { name: 'Grant' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('alert').getByText('Is throttled').waitFor()
  expect(await dialog.getByText('→').count()).toBe(0)
  expectProblem(/status of 502/)
  restore()
  await dialog.getByRole('button', { name: 'Try again' }).click()
  await dialog.getByText('1041009001 → 2050001112').waitFor()
  for (const text of ['GCB → ECO', 'Demo Payments → demo']) {
    await dialog.getByText(text, { exact: true }).waitFor()
  }
  expect(await legibilityFindings(page)).toEqual([])
})

test('a granted connector shows its generated secret to the granting operator', async () => {
  const options = { bank: 'ECO', connector: 'http', 'connector-url': 'http://127.0.0.1:1/' }
  await service.call('bank', 'update', options, 'local:ama')
  const page = await openScreen('approvals?status=pending')
  await page.getByLabel('Act as operator').fill('kofi')
  await page.getByLabel('Act as operator').press('Enter')
  const row = rowsOf(page, 'Requests').filter({ hasText: 'bank update' })
  await row.getByRole('button', { name: 'Grant' }).click()
  await page.getByRole('dialog').getByText('sandbox → http').waitFor()
  await page.getByRole('dialog').getByText('none → http://127.0.0.1:1/').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Grant' }).click()
  const shown = page.getByRole('dialog', { name: 'Shown once' })
  await shown.getByRole('region', { name: 'Secret of the connector' }).waitFor()
  await shown.getByRole('button', { name: 'Done' }).click()
  await row.waitFor({ state: 'detached' })
})
