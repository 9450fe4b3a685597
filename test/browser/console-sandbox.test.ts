import { expect, test } from 'vitest'
import { HOUR_MS } from '../../shared/domain/time.ts'
import { useService } from '../support/running-service.ts'
import { legibilityFindings } from './browser.ts'
import {
  call,
  changeList,
  changeReplies,
  fill,
  reloadWith,
  rowsOf,
  submit,
  useConsole,
} from './console.ts'

/** The console's banks, customers, clock and scenarios, in Chromium. */

const service = useService()
const { openScreen, expectProblem } = useConsole(service)

test('a bank of a sandbox rejects on demand, and is normal again', async () => {
  const page = await openScreen('banks')
  const row = rowsOf(page, 'Banks').filter({ hasText: 'Ecobank' })
  await row.getByRole('button', { name: 'Simulate' }).click()
  await fill(page, { As: 'rejecting', Code: 'insufficient_funds', For: '5m' })
  expect(await legibilityFindings(page)).toEqual([])
  await submit(page, 'Simulate')
  await row.getByText('insufficient funds').waitFor()
  await row.getByText(/ends in [45] min/).waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  const { reference } = await service.charge({ bank_identifier: 'ECO' })
  expect((await service.until(reference, 'failed')).error_code).toBe('insufficient_funds')
  await call(row, 'Simulate', { As: 'normal' })
  await row.getByText('normal', { exact: true }).waitFor()
})

test('a bank has a form with its present settings; a refused change shows the reason', async () => {
  const page = await openScreen('bank/ZEN')
  await page.getByRole('button', { name: 'Change' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Now live.').waitFor()
  await fill(page, { Status: 'inactive', Maximum: 'ten' })
  expect(await legibilityFindings(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Change' }).click()
  await dialog.getByRole('alert').getByText('--maximum').waitFor()
  expectProblem(/status of 422/)
  await dialog.getByLabel('Maximum').fill('10.00')
  await dialog.getByText('bank update --bank ZEN --status inactive --maximum 10.00').waitFor()
  await dialog.getByLabel('Connector secret').fill('cs_0123456789abcdef')
  await dialog.getByText(/--connector-secret - --/).waitFor()
  await dialog.getByLabel('Connector secret').fill('')
  await dialog.getByRole('button', { name: 'Change' }).click()
  await page.getByText('inactive', { exact: true }).waitFor()
  await page.getByText('10.00', { exact: true }).waitFor()
  expect(await legibilityFindings(page)).toEqual([])
})

test('a provider gets a credential, which is shown once, revoked, and the newest of the pages', async () => {
  const page = await openScreen('providers')
  expect(await legibilityFindings(page)).toEqual([])
  await page.getByRole('link', { name: 'other', exact: true }).click()
  await call(page, 'Issue a credential')
  const dialog = page.getByRole('dialog')
  const token = await dialog.getByRole('region', { name: 'Token' }).innerText()
  await dialog.getByRole('button', { name: 'Done' }).click()
  const row = rowsOf(page, 'Credentials').filter({ hasText: token.slice(-4) })
  expect(await legibilityFindings(page)).toEqual([])
  await call(row, 'Revoke')
  await row.getByText('revoked').waitFor()
  const paged = await openScreen('provider/other?limit=1')
  await rowsOf(paged, 'Credentials')
    .filter({ hasText: token.slice(-4) })
    .waitFor()
  await paged.getByRole('link', { name: 'Next page' }).click()
  await rowsOf(paged, 'Credentials').getByText('active').waitFor()
  expect(await rowsOf(paged, 'Credentials').count()).toBe(1)
})

test('a removed limit shows as none, and Enable is offered only for a disabled provider or bank', async () => {
  await service.call('limit', 'set', { provider: 'signed', 'daily-limit': 'none' })
  const page = await openScreen('providers')
  const row = rowsOf(page, 'Providers').filter({ hasText: 'signed' })
  await row.locator('.number').getByText('none').waitFor()
  for (const path of ['provider/signed', 'bank/ABSA']) {
    await page.goto(`${service.sandbox().address}/console#/${path}`)
    await page
      .locator('dt', { hasText: /^(?:Daily limit|Maximum)$/ })
      .first()
      .waitFor()
    await page
      .locator('dd', { hasText: /^none$/ })
      .first()
      .waitFor()
    const offers = page.getByRole('main').getByRole('button', { name: /^(?:En|Dis)able$/ })
    expect(await offers.allInnerTexts()).toEqual(['Disable'])
    await call(page, 'Disable')
    await page.getByRole('button', { name: 'Enable' }).waitFor()
    expect(await offers.allInnerTexts()).toEqual(['Enable'])
  }
})

test('a provider’s screen links the lists that the operator may read', async () => {
  const page = await openScreen('provider/other')
  const links = page.getByRole('main').locator('header').getByRole('link')
  await links.filter({ hasText: 'Changes' }).waitFor()
  expect(await links.allInnerTexts()).toEqual(['All providers', 'Debits', 'Changes'])
  await reloadWith(page, { nouns: ['provider', 'customer'] })
  await page.getByRole('heading', { name: 'other' }).waitFor()
  expect(await links.allInnerTexts()).toEqual(['All providers'])
  await page.goto(`${service.sandbox().address}/console#/customers?phone=%2B233241234567`)
  await page.getByRole('button', { name: 'Export' }).waitFor()
  expect(await page.getByRole('link', { name: 'Debits of' }).count()).toBe(0)
})

test('a credential is expired after its time, which the screen shows with its year', async () => {
  const page = await openScreen('providers')
  await changeList(page, 'credential', {}, { expires_on: '2025-11-23T00:00:00.000Z' })
  await page.goto(`${service.sandbox().address}/console#/provider/signed`)
  const row = rowsOf(page, 'Credentials').first()
  await row.getByText('23 Nov 2025 00:00:00', { exact: true }).waitFor()
  await row.getByText('expired', { exact: true }).waitFor()
})

test('a verb without a screen of its own has a form, and its result is shown', async () => {
  const page = await openScreen('calls')
  await page.getByLabel('Find').fill('calendar add')
  await call(rowsOf(page, 'Calls'), 'Call', { Date: '2027-03-08', Name: 'Independence Day' })
  const dialog = page.getByRole('dialog')
  await dialog.getByText('"Independence Day"').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByLabel('Find').fill('')
  expect(await legibilityFindings(page)).toEqual([])
})

test('a customer is found by number, and gets an account', async () => {
  const page = await openScreen('customers')
  await page.getByText('Enter a phone number').waitFor()
  await page.getByRole('link', { name: '+233241234567' }).click()
  await rowsOf(page, 'Accounts').filter({ hasText: 'GCB' }).getByText('Ama Mensah').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await page.getByLabel('Phone number').fill('+233201112223')
  await page.getByRole('button', { name: 'Show accounts' }).click()
  await page.getByText('No account has this number').waitFor()
  const account = { Bank: 'ABSA', Name: 'Efua Sarpong', 'Account number': '1234567' }
  await call(page, 'Link an account', account)
  const row = rowsOf(page, 'Accounts').filter({ hasText: 'Efua Sarpong' })
  const result = page.getByRole('dialog', { name: 'Result' })
  const shows = async (text: string): Promise<void> => {
    await result.getByText(text).waitFor()
    await page.keyboard.press('Escape')
  }
  await page.getByRole('button', { name: 'Export' }).click()
  await shows('Efua Sarpong')
  const [read] = await Promise.all([
    page.waitForRequest((sent) => sent.postData()?.includes('"accesses"') === true),
    call(page, 'Accesses'),
  ])
  expect(read.postDataJSON().options).toMatchObject({ limit: '1000' })
  await shows('"export"')
  await changeReplies(page, '/console/operator', '"accesses"', (reply) => ({
    ...reply,
    next_cursor: 'LATER',
  }))
  await call(page, 'Accesses')
  await shows('"next_cursor": "LATER"')
  const download = 'https://bucket.example/export'
  await changeReplies(page, '/console/operator', '"export"', () => ({ data: { download } }))
  await page.getByRole('button', { name: 'Export' }).click()
  const link = result.getByRole('link', { name: 'Download it as JSON' })
  expect(await link.getAttribute('href')).toBe(download)
  await page.keyboard.press('Escape')
  await call(row, 'Remove')
  await page.getByText('No account has this number').waitFor()
  await call(page, 'Erase', { Reason: 'Request 12' })
  await shows('"later": 0')
})

test('a malformed number shows the reason', async () => {
  const page = await openScreen('customers?phone=12')
  await page.getByRole('alert').getByText('--phone').waitFor()
  expectProblem(/status of 422/)
})

test('the clock moves, stops and continues, and a reset needs a confirmation', async () => {
  const page = await openScreen('clock')
  await page.getByText('running', { exact: true }).waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  const now = () => service.sandbox().control.clock.now().getTime()
  const before = now()
  await page.getByRole('button', { name: '+1 day' }).click()
  await page.getByText('The clock is at').waitFor()
  expect(now() - before).toBeGreaterThan(23 * HOUR_MS)
  await call(page, 'Advance…', { Duration: 'soon' })
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('alert').getByText('must be a duration').waitFor()
  expectProblem(/status of 422/)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Freeze' }).click()
  await page.getByText('frozen', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('running', { exact: true }).waitFor()
  await service.call('provider', 'update', { provider: 'demo', name: 'Changed' })
  await page.getByRole('button', { name: 'Reset the sandbox' }).click()
  await dialog.getByText('cannot be restored').waitFor()
  await dialog.getByRole('button', { name: 'Reset the sandbox' }).click()
  await page.getByText('The sandbox is new').waitFor()
  expect(await service.call('provider', 'show', { provider: 'demo' })).toMatchObject({
    name: 'Demo Payments',
  })
})

test('a scenario plays, and links the debit that it ends', async () => {
  const page = await openScreen('scenarios')
  await rowsOf(page, 'Scenarios').getByText('late-completion').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'completed', exact: true }).click()
  const row = rowsOf(page, 'Played scenarios')
  await row.getByText('completed').first().waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await row.getByRole('link').first().click()
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
})

test('the screen shows the refusal of a scenario with an unknown debit', async () => {
  const page = await openScreen('scenarios')
  await page.getByLabel('Debit (optional)').fill('DCS-20260101-ABC123')
  await page.getByRole('button', { name: 'completed', exact: true }).click()
  await page.locator('.toasts .failed').waitFor()
  expectProblem(/status of 4/)
})
