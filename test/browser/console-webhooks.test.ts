import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { CHARGE, chargeBody, SILENT } from '../support/requests.ts'
import { useService } from '../support/running-service.ts'
import { useSubscribers } from '../support/subscriber.ts'
import { legibilityFindings } from './browser.ts'
import { call, rowsOf, useConsole } from './console.ts'

/** The console's webhooks and requests, in Chromium. */

const service = useService()
const { receiver, subscribe } = useSubscribers(service)
const { openScreen, expectProblem } = useConsole(service)

test('a webhook is set from the empty list, and pinged', async () => {
  const page = await openScreen('webhooks')
  await page.getByText('No provider has a webhook').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  const url = receiver.url(`/set${'-long'.repeat(40)}`)
  await call(page, 'Set a webhook', { Provider: 'demo', URL: url })
  const secret = page.getByRole('dialog', { name: 'Shown once' })
  await secret.getByText(/^whsec_/).waitFor()
  for (let n = 0; n < 3; n += 1) await page.keyboard.press('Escape')
  // Escape in browsers that do not know `closedby`.
  const cancel = () =>
    secret.evaluate((dialog) => dialog.dispatchEvent(new Event('cancel', { cancelable: true })))
  expect(await cancel()).toBe(false)
  expect(await legibilityFindings(page)).toEqual([])
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await secret.getByRole('button', { name: 'Copy signing secret' }).click()
  await page.getByText('Copied.').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^whsec_/)
  await secret.getByRole('button', { name: 'Done' }).click()
  const row = rowsOf(page, 'Webhooks').filter({ hasText: 'demo' })
  await row.getByText('healthy').waitFor()
  await row.getByRole('button', { name: 'Ping' }).click()
  await page.getByText('The receiver accepted the ping').waitFor()
  expect(receiver.received.map(({ body }) => body.event)).toContain('ping')
  expect(await legibilityFindings(page)).toEqual([])
})

test('a webhook that fails is shown as failing, with a countdown to each retry', async () => {
  const { respond, debit, provider, arrived } = await subscribe('failing')
  // The retry waits for five minutes, also on a slow machine.
  respond((response) => response.writeHead(500, { 'Retry-After': '300' }).end())
  const { reference } = await debit('failed')
  respond(204)
  // Later deliveries of several pages do not hide the retry.
  await Promise.all(Array.from({ length: 35 }, () => provider.charge()))
  await eventually(() => expect(arrived().length).toBeGreaterThan(100))
  const page = await openScreen('webhooks')
  await rowsOf(page, 'Webhooks').filter({ hasText: 'failing' }).waitFor()
  const retry = rowsOf(page, 'Pending retries').filter({ hasText: reference }).first()
  await retry.getByText('HTTP 500').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
})

test('a webhook has its health, and its deliveries by status; one is sent again', async () => {
  const { script, debit, arrived } = await subscribe('resent', {
    ...{ events: 'transaction.created', 'max-attempts': '1' },
  })
  script(500)
  const { reference } = await debit('abandoned')
  const page = await openScreen('webhook/resent')
  await page.getByLabel('Status').selectOption('abandoned')
  const row = rowsOf(page, 'Deliveries').filter({ hasText: reference })
  await row.getByText('HTTP 500').waitFor()
  await row.getByRole('cell', { name: /^\d\d:\d\d:\d\d$/ }).waitFor()
  await page.getByText('The next success sends the abandoned events again').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await row.getByRole('button', { name: 'Redeliver' }).click()
  await page.getByText('No delivery matches these filters').waitFor()
  await page.getByLabel('Status').selectOption('delivered')
  await row.waitFor()
  expect(arrived()).toHaveLength(2)
})

test('the screen shows the refusal for a provider without a webhook', async () => {
  const page = await openScreen('webhook/fenced')
  await page.getByRole('alert').getByText('this provider has no webhook').waitFor()
  expectProblem(/status of 422/)
})

test('a request appears live with bodies and without tokens, and is copied as curl', async () => {
  const page = await openScreen('requests')
  await page.getByRole('heading', { name: 'Requests' }).waitFor()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const charge = chargeBody({ phone_number: SILENT, narration: "Ama's order" })
  const body = JSON.stringify(charge).replace('"100.00"', '100.00')
  const credential = 'sk_sandbox_demo'
  const { body: reply } = await service.send('POST', CHARGE, { credential, body })
  const { reference } = reply.data
  await page.getByLabel('Find').fill(reference)
  await page.getByText(`POST ${CHARGE}`).click()
  await page.getByRole('region', { name: 'Body of the reply' }).getByText(reference).waitFor()
  const sent = page.getByRole('region', { name: 'Body of the request' })
  await sent.getByText('"amount": 100.00,').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  expect(await page.content()).not.toContain(credential)
  await page.getByRole('button', { name: 'Copy as curl' }).click()
  await page.getByText('Copied').waitFor()
  const command = String(await page.evaluate('navigator.clipboard.readText()'))
  expect(command).toContain(`curl -X POST '${service.sandbox().address}${CHARGE}'`)
  expect(command).toMatch(/-H '[Aa]uthorization: Bearer '"\$TOKEN"/)
  expect(command).toContain("Ama'\\''s order")
})

test('the requests are filtered by status; a filter without a match says so', async () => {
  await service.get('/api/v1/nothing')
  const page = await openScreen('requests')
  await page.getByLabel('Status').selectOption('4xx')
  await page.getByText('/api/v1/nothing').first().waitFor()
  await page.getByLabel('Find').fill('no such text')
  await page.getByText('No request matches').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
})

test('a call without a connection shows what to do, and a retry works', async () => {
  const page = await openScreen('debits')
  await page.route('**/console/operator', (route) => route.abort())
  // No other screen was open, whose button would leave with it.
  await page.reload()
  await page.getByText('The console is not reachable').first().waitFor()
  expectProblem(/net::ERR_FAILED .*console\/operator/)
  // A change of the service also loads the list again: held, so that it does not remove the button.
  let held = 0
  await page.route('**/console/operator', () => {
    held += 1
  })
  await page.getByRole('button', { name: 'Try again' }).first().click()
  await eventually(() => expect(held).toBeGreaterThan(0))
  await page.unrouteAll()
  await page.getByRole('alert').waitFor({ state: 'detached' })
})
