import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type Answer, useReceiver } from '../support/receiver.ts'
import { FAILS_AT_ONCE, SILENT } from '../support/requests.ts'
import { useService } from '../support/running-service.ts'
import { legibilityFindings } from './browser.ts'
import { call, changeReply, fill, reloadWith, rowsOf, submit, useConsole } from './console.ts'

/** The console's debits, in Chromium. */

const service = useService()
const receiver = useReceiver()
const { openScreen, expectProblem } = useConsole(service)

const chargeSilent = (fields = {}) => service.charge({ phone_number: SILENT, ...fields })

test('a debit is charged in a dialog and appears in the empty list and in the chart at once', async () => {
  const page = await openScreen('debits')
  await page.getByText('No debits yet').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'New debit' }).click()
  await page.getByRole('dialog', { name: 'New debit' }).waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await submit(page, 'New debit', { 'Amount in GHS': '12.50' })
  await rowsOf(page, 'Debits').filter({ hasText: '12.50' }).waitFor()
  const chart = page.getByRole('img', { name: '1 debits charged, 0 completed, 0 failed' })
  await chart.getByText('4', { exact: true }).waitFor()
  const labels = await chart.locator('.times small').allInnerTexts()
  expect(labels).toEqual(Array(5).fill(expect.stringMatching(/^\d\d:\d\d$/)))
  expect(new Set(labels).size).toBe(5)
  await page.getByRole('status').getByText('Live').waitFor()
})

test('a debit of the API appears live, and changes its status live', async () => {
  const page = await openScreen('debits')
  const { reference, uuid } = await chargeSilent()
  const row = rowsOf(page, 'Debits').filter({ hasText: reference })
  await row.getByText('processing').waitFor()
  await service.report(uuid, { status: 'completed', bank_reference: 'GCB-1' })
  await row.getByText('completed').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
})

test('the debits are filtered by status, provider and amount, and the address keeps the filters', async () => {
  const { reference } = await chargeSilent({ amount: 47.11 })
  const page = await openScreen('debits')
  await page.getByRole('searchbox', { name: 'Search' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('GHS 47.11')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Amount: 47.11' }).waitFor()
  await page.getByLabel('Provider').selectOption('demo')
  await expect
    .poll(() => rowsOf(page, 'Debits').allInnerTexts())
    .toEqual([expect.stringContaining(reference)])
  await page.reload()
  await eventually(async () => expect(await rowsOf(page, 'Debits').count()).toBe(1))
  await page.getByLabel('Status').selectOption('reversed')
  await page.getByText('No debit matches').waitFor()
  await page.getByLabel('Status').selectOption('')
  await page.getByRole('button', { name: 'Amount: 47.11' }).click()
  await eventually(async () => expect(await rowsOf(page, 'Debits').count()).toBeGreaterThan(1))
})

test('the search finds a debit by reference, uuid, phone, and references of provider and bank', async () => {
  const { reference, uuid } = await chargeSilent()
  const bank_reference = 'GCB-FOUND'
  await service.report(uuid, { status: 'completed', bank_reference })
  const { partner_reference } = await service.show(reference)
  const page = await openScreen('webhooks')
  await page.getByRole('searchbox', { name: 'Search' }).waitFor()
  const search = async (text: string): Promise<void> => {
    await page.keyboard.press('Control+k')
    await page.keyboard.type(text)
    await page.keyboard.press('Enter')
  }
  await search(reference.toLowerCase())
  await page.getByRole('heading', { name: reference }).waitFor()
  for (const text of [uuid, `0${SILENT.slice(4)}`, partner_reference]) {
    await search(text)
    await rowsOf(page, 'Debits').filter({ hasText: reference }).waitFor()
  }
  expect(await legibilityFindings(page)).toEqual([])
  for (const own of [crypto.randomUUID(), 'ORDER-20261129-ABC123', SILENT, '1234567.00', 'gcb']) {
    const debit = await chargeSilent({ partner_reference: own })
    await search(own)
    await page.getByRole('button', { name: `Partner reference: ${own}` }).waitFor()
    await rowsOf(page, 'Debits').filter({ hasText: debit.reference }).waitFor()
    await page.getByRole('link', { name: `Search for “${own}” by its form` }).waitFor()
  }
  await page.getByRole('link', { name: 'Search for “gcb” by its form' }).click()
  await page.getByRole('heading', { name: 'GCB' }).first().waitFor()
  await search(bank_reference)
  await page.getByRole('link', { name: 'Search the banks’ references' }).click()
  await rowsOf(page, 'Debits').filter({ hasText: reference }).waitFor()
  await page.getByLabel('To', { exact: true }).fill('2020-01-01')
  await page.getByRole('alert').getByText('must not be before').waitFor()
  expectProblem(/status of 422/)
})

test('an amount has separators, and a reference that looks like an amount is shown as it is', async () => {
  const fields = { amount: 1234.56, partner_reference: '7654321.00' }
  const { reference } = await chargeSilent(fields)
  const page = await openScreen(`debit/${reference}`)
  await page.locator('dd', { hasText: /^7654321\.00$/ }).waitFor()
  await page.locator('dd', { hasText: /^1,234\.56 GHS$/ }).waitFor()
  await page.getByRole('link', { name: 'All debits' }).click()
  await rowsOf(page, 'Debits').filter({ hasText: reference }).getByText('1,234.56').waitFor()
})

test('the dialog shows the reason of a refused charge', async () => {
  const page = await openScreen('debits')
  await call(page, 'New debit', { 'Amount in GHS': '-1' })
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('alert').getByText('amount').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expectProblem(/status of 400/)
})

test('a debit has a timeline, is completed by its bank, reversed and refunded', async () => {
  const { reference } = await chargeSilent()
  await service.until(reference, 'processing')
  const page = await openScreen(`debit/${reference}`)
  await page.getByText('by provider:demo').first().waitFor()
  await page.getByRole('button', { name: 'Bank: completed' }).click()
  await page.getByRole('heading', { name: 'Completed' }).waitFor()
  await page.getByText('bank:GCB').last().waitFor()
  await page.getByRole('button', { name: 'Reverse' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('100.00 GHS').waitFor()
  await dialog.getByText(/customer \+233\*+4444 at GCB/).waitFor()
  await dialog.getByLabel('Reason').fill('Dispute 4711')
  await dialog.getByText(`operator debit reverse --reference ${reference} --reason`).waitFor()
  await dialog.getByRole('button', { name: 'Reverse' }).click()
  await page.getByRole('heading', { name: 'Reversed' }).waitFor()
  await page.getByRole('heading', { name: 'Refund', exact: true }).waitFor()
  expect(await legibilityFindings(page)).toEqual([])
})

test('a reversal without a refund says before and after it that the customer gets none', async () => {
  const { reference } = await service.chargeCompleted()
  const page = await openScreen(`debit/${reference}`)
  await changeReply(page, '/console/operator', { phone_number: null }, '"debit","verb":"show"')
  await page.reload()
  await page.locator('dd', { hasText: /^erased$/ }).waitFor()
  await page.getByRole('button', { name: 'Reverse' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('an erased customer at GCB').waitFor()
  await dialog.locator('dd', { hasText: /^demo$/ }).waitFor()
  await fill(page, { Refund: 'none', Reason: 'Never debited' })
  await dialog.getByText('The customer gets no refund. The next batch takes').waitFor()
  expect(await dialog.getByText(/\d GHS/).count()).toBe(0)
  await dialog.getByRole('button', { name: 'Reverse' }).click()
  await page.getByText('The debit is reversed. The customer gets no refund.').waitFor()
})

test('a debit fails with the code that is chosen, which its timeline shows', async () => {
  const { reference } = await chargeSilent()
  await service.until(reference, 'processing')
  const page = await openScreen(`debit/${reference}`)
  await call(page, 'Bank: failed', { 'Failure code': 'invalid_account' })
  await page
    .getByRole('listitem')
    .getByText('Account not found or inactive (invalid_account)')
    .waitFor()
})

test('the operator completes a debit of a bank without a token', async () => {
  await service.call('customer', 'link', {
    ...{ phone: '+233245550001', bank: 'ABSA', name: 'Adwoa Addo' },
    'account-number': '3041001001',
  })
  const fields = { phone_number: '+233245550001', bank_identifier: 'ABSA' }
  const { reference } = await service.charge(fields)
  await service.until(reference, 'processing')
  const page = await openScreen(`debit/${reference}`)
  await page.getByRole('button', { name: 'Bank: completed' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('100.00 GHS').waitFor()
  await fill(page, { 'Bank reference': 'ABSA-1', Reason: 'Telephone' })
  await dialog.getByText(`operator debit complete --reference ${reference}`).waitFor()
  await dialog.getByRole('button', { name: 'Bank: completed' }).click()
  await page.getByText('operator:local:').waitFor()
})

test('a delivery opens in a drawer with each attempt, and is sent again', async () => {
  const path = '/console'
  const url = receiver.url(path)
  let isUp = false
  const answer: Answer = (response) =>
    response.writeHead(isUp ? 204 : 500).end(isUp ? '' : '<h1>Down</h1>')
  receiver.script(path, ...Array<Answer>(20).fill(answer))
  await service.call('webhook', 'set', { provider: 'other', url, events: 'transaction.failed' })
  const { reference } = await service.charge({ phone_number: FAILS_AT_ONCE }, 'sk_sandbox_other')
  const page = await openScreen(`debit/${reference}`)
  const line = page.getByRole('listitem').filter({ hasText: /\d of 11 attempts, next/ })
  await line.getByText('HTTP 500').waitFor()
  await page.getByRole('link', { name: 'transaction.failed' }).click()
  const drawer = page.getByRole('dialog', { name: /^Delivery / })
  await drawer.getByText(/\d of 11 attempts, next in \d+ s/).waitFor()
  await drawer.getByRole('button', { name: '1 HTTP 500' }).click()
  await drawer.getByRole('region', { name: 'Body of the response' }).getByText('<h1>').waitFor()
  await drawer.getByRole('region', { name: 'Body of the request' }).getByText('****0001').waitFor()
  const headers = drawer.getByRole('region', { name: 'Headers of the request' })
  await headers.getByText('X-SVC-Event-ID').waitFor()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await drawer.getByRole('button', { name: 'Copy as curl' }).click()
  await page.getByText('Copied. Set URL').waitFor()
  const copied = () => page.evaluate('navigator.clipboard.readText()')
  expect(await copied()).toMatch(/^curl -X POST "\$URL".* -H 'X-SVC-Event: .*--data-raw '\{/s)
  await drawer.getByRole('button', { name: 'Copy response' }).click()
  await eventually(async () => expect(await copied()).toBe('<h1>Down</h1>'))
  expect(await legibilityFindings(page)).toEqual([])
  isUp = true
  await drawer.getByRole('button', { name: 'Redeliver' }).click()
  // The next attempt of the schedule can succeed before the redelivery.
  await drawer.getByRole('button', { name: 'HTTP 204' }).first().click()
  await drawer.getByText('The response has no body').waitFor()
  await drawer.getByText('delivered', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  await page.waitForURL((url) => !url.href.includes('delivery='))
  await service.call('webhook', 'set', { provider: 'other', url: 'http://127.0.0.1:1/' })
  await page.getByRole('link', { name: 'transaction.failed' }).click()
  await drawer.getByRole('button', { name: 'Redeliver' }).click()
  await drawer.getByText('No response.').waitFor()
})

test('a debit with a report that contradicts its outcome has an exception, which a note resolves', async () => {
  const { reference, uuid } = await service.chargeUntil('processing', { phone_number: SILENT })
  await service.report(uuid, { status: 'completed', bank_reference: 'GCB-1' })
  const failed = { status: 'failed', bank_reference: 'GCB-1', error_message: 'Declined' }
  await service.report(uuid, failed)
  const page = await openScreen(`debit/${reference}`)
  await page.getByRole('heading', { name: 'Exceptions' }).waitFor()
  const row = rowsOf(page, 'Exceptions')
  await row.getByText('Contradiction').waitFor()
  await row.getByText('Report of the bank').click()
  await row.getByText('Declined').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await call(row, 'Resolve', { Resolution: 'The bank erred' })
  await row.getByText('The bank erred').waitFor()
})

test('an open debit says that a restore holds its timeout, or that its bank is down', async () => {
  const { reference } = await service.chargeUntil('processing', { phone_number: SILENT })
  const page = await openScreen(`debit/${reference}`)
  await service.call('restore', 'begin', { generation: '2' })
  const held = page.getByText('its timeout is held by a restore')
  await held.waitFor()
  await service.call('restore', 'release')
  await held.waitFor({ state: 'detached' })
  const health = { state: 'down', since: '2020-01-02T03:04:05.000Z' }
  await changeReply(page, '/console/operator', { health }, '"bank","verb":"show"')
  await changeReply(page, '/console/operator', { status: 'pending' }, '"debit","verb":"show"')
  await page.reload()
  await page.getByText('GCB is down since 2 Jan 2020 03:04:05').waitFor()
})

test('the screen of a debit that does not exist shows the refusal, and a link to all debits', async () => {
  const page = await openScreen('debit/DCS-20200101-ABC123')
  await page.getByRole('alert').getByText('no such debit').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await page.getByRole('link', { name: 'All debits' }).click()
  await page.getByRole('heading', { name: 'Debits' }).waitFor()
  expectProblem(/status of 422/)
})

test('a malformed address shows the refusal instead of an empty page', async () => {
  const page = await openScreen('debit/%E0%A4%A')
  await page.getByRole('alert').getByText('--reference').waitFor()
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  expectProblem(/status of 422/)
})

test('the way back from a debit leads to its row, and a link to the filtered list', async () => {
  for (let n = 0; n < 40; n += 1) await chargeSilent()
  const page = await openScreen('debits?provider=demo')
  await rowsOf(page, 'Debits').nth(39).waitFor()
  const row = rowsOf(page, 'Debits').nth(30)
  await row.getByRole('link').first().click()
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await page.goBack()
  await row.waitFor()
  expect(await page.evaluate('scrollY')).toBeGreaterThan(300)
  await row.getByRole('link').first().click()
  await page.getByRole('link', { name: 'All debits' }).click()
  await page.getByRole('heading', { name: 'Debits' }).waitFor()
  await page.waitForURL(/provider=demo/)
})

test('a list has older debits on further pages, and the way back leads to the page', async () => {
  for (let n = 0; n < 11; n += 1) await chargeSilent()
  const page = await openScreen('debits?provider=demo&limit=10')
  await page.getByText('Of these 10:').waitFor()
  await page.getByRole('link', { name: 'Next page' }).click()
  await page.getByRole('link', { name: 'First page' }).waitFor()
  const row = rowsOf(page, 'Debits').first()
  const reference = await row.getByRole('link').first().innerText()
  await row.getByRole('link').first().click()
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await page.getByRole('link', { name: 'All debits' }).click()
  await page.getByRole('link', { name: reference }).waitFor()
  await page.getByLabel('Provider').selectOption('other')
  await eventually(() => expect(page.url()).not.toContain('cursor'))
})

test('a long narration moves no other column out of the page', async () => {
  await chargeSilent({ narration: 'x'.repeat(100) })
  for (const width of [1280, 1000, 700]) {
    const page = await openScreen('debits')
    await page.setViewportSize({ width, height: 900 })
    await rowsOf(page, 'Debits').first().waitFor()
    const row = await rowsOf(page, 'Debits').first().getByText('processing').boundingBox()
    expect((row?.x ?? width) + (row?.width ?? 0)).toBeLessThanOrEqual(width)
  }
})

test('the keyboard reaches the screens and skips to the content', async () => {
  const page = await openScreen('debits')
  await page.getByRole('heading', { name: 'Debits' }).waitFor()
  await page.keyboard.press('Shift+Tab')
  await page.getByRole('button', { name: 'Skip to the content' }).focus()
  await page.keyboard.press('Enter')
  expect(await page.evaluate('document.activeElement.id')).toBe('main')
  await page.getByRole('link', { name: 'Webhooks' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
  const title = 'Webhooks · sandbox · Debit collection'
  await eventually(async () => expect(await page.title()).toBe(title))
})

test('the console of production has a border and a title of its own', async () => {
  const sandbox = await openScreen('banks')
  await sandbox.getByRole('heading', { name: 'Banks' }).waitFor()
  const borderOf = (page: typeof sandbox) =>
    page.evaluate("getComputedStyle(document.querySelector('header.side')).borderTopWidth")
  expect(await borderOf(sandbox)).toBe('0px')
  const page = await openScreen('nothing')
  await reloadWith(page, { stage: 'production' })
  await page.getByText('stage production').waitFor()
  expect(await borderOf(page)).toBe('5px')
  expect(await page.title()).toBe('Not found · production · Debit collection')
})

test('a screen that does not exist says so', async () => {
  const page = await openScreen('nothing')
  const heading = page.getByRole('heading', { name: 'This screen does not exist' })
  await heading.waitFor()
  expect(await page.evaluate('document.activeElement.tagName')).toBe('H1')
  expect(await legibilityFindings(page)).toEqual([])
})

test('a button opens the links on a narrow screen', async () => {
  const page = await openScreen('debits')
  await page.setViewportSize({ width: 390, height: 800 })
  const link = page.getByRole('link', { name: 'Requests' })
  expect(await link.isVisible()).toBe(false)
  const menu = page.getByRole('button', { name: 'Menu' })
  await menu.click()
  await page.keyboard.press('Escape')
  await link.waitFor({ state: 'hidden' })
  await menu.click()
  await link.click()
  await page.getByRole('heading', { name: 'Requests' }).waitFor()
  expect(await link.isVisible()).toBe(false)
})
