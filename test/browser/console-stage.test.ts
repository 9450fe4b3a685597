import { expect, onTestFinished, test } from 'vitest'
import { healthy } from '../commands/smoke/stage-endpoint.ts'
import { SILENT } from '../support/requests.ts'
import { useService } from '../support/running-service.ts'
import { useBrowser } from './browser.ts'
import { fill, useStage } from './console.ts'

/** `console --stage`, in Chromium, with a stage whose functions are those of a sandbox. */

const service = useService()
const openStage = useStage(service)
const { open, allowProblem, expectProblem } = useBrowser()

test('a stage asks for a confirmation before money moves, and records the caller', async () => {
  const { reference } = await service.chargeUntil('processing', { phone_number: SILENT })
  const address = await openStage()
  const page = await open(`${address}#/debit/${reference}`)
  await page.getByText('arn:aws:iam::000000000000:user/ama').first().waitFor()
  await page.getByRole('button', { name: 'Bank: completed' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('proof of money, on the stage sandbox').waitFor()
  await fill(page, { 'Bank reference': 'GCB-4711', Reason: 'Statement of 21 November' })
  expect((await service.show(reference)).status).toBe('processing')
  await dialog.getByRole('button', { name: 'Bank: completed' }).click()
  await page.getByText('operator:arn:aws:iam::000000000000:user/ama').waitFor()
  expect(await service.show(reference)).toMatchObject({
    status: 'completed',
    bank_reference: 'GCB-4711',
  })
})

test('a stage asks before a call without fields, which a sandbox makes at once', async () => {
  const provider = 'other'
  await service.call('webhook', 'set', { provider, url: 'http://127.0.0.1:1/' })
  onTestFinished(() => service.call('webhook', 'remove', { provider }))
  const page = await open(`${await openStage()}#/webhook/${provider}`)
  await page.getByRole('button', { name: 'Ping' }).click()
  await page.getByRole('dialog').getByText('Sends a signed ping to other').waitFor()
})

test('a stage has neither demo charges nor a request log, and polls for changes', async () => {
  const address = await openStage()
  const page = await open(address)
  await page.getByText('Updated every 5 seconds').waitFor()
  expect(await page.getByRole('button', { name: 'New debit' }).count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Requests' }).count()).toBe(0)
  const { reference } = await service.charge({ phone_number: SILENT })
  await page.getByRole('link', { name: reference }).waitFor()
})

test('a stage shows the alarms that ring, and queries the outcomes of its debits on request', async () => {
  const address = await openStage()
  const page = await open(`${address}#/now`)
  const alarm = page.getByRole('table', { name: 'Alarms' }).getByRole('row')
  await alarm.filter({ hasText: 'bank-down' }).getByText('call the bank').waitFor()
  await page.getByText('Failed payouts').waitFor()
  expect(await page.getByRole('table', { name: 'Outcomes by bank' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Query the log' }).click()
  for (const [kind, name] of [
    ['bank', 'GCB'],
    ['provider', 'demo'],
  ]) {
    const row = page.getByRole('table', { name: `Outcomes by ${kind}` }).getByRole('row')
    await row.filter({ hasText: `${name}2250 %12.5 sinvalid account` }).waitFor()
  }
  expect(await page.title()).toBe('Now · sandbox · Debit collection')
})

test('a stage checks a day on request, and has no clock', async () => {
  const address = await openStage()
  const page = await open(`${address}#/reconciliation`)
  await page.getByText('is not checked').waitFor()
  expect(await page.getByRole('link', { name: 'Clock' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Check the day' }).click()
  await page.getByText('No differences').waitFor()
})

test('a stage offers only the screens of functions that the credentials may invoke', async () => {
  const address = await openStage({ ...healthy, denied: ['manage-webhook', 'manage-provider'] })
  const page = await open(address)
  await page.getByRole('heading', { name: 'Debits' }).waitFor()
  // The page learns the permissions after its first screen.
  await page.getByRole('link', { name: 'Webhooks' }).waitFor({ state: 'detached' })
  await page.goto(`${address}#/webhooks`)
  await page.getByText('do not allow invoking manage-webhook').waitFor()
  // The first screen may ask for a denied list before the permissions are known.
  allowProblem(/status of 502/)
})

test('a call that is denied later shows the reason', async () => {
  const denied: string[] = []
  const address = await openStage({ ...healthy, denied })
  const page = await open(`${address}#/webhooks`)
  await page.getByText('No provider has a webhook').waitFor()
  denied.push('manage-debit')
  await page.getByRole('link', { name: 'Debits' }).click()
  const reason = 'do not allow invoking debit-collection-sandbox-manage-debit'
  await page.getByRole('alert').getByText(reason).waitFor()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  expectProblem(/status of 502/)
})
