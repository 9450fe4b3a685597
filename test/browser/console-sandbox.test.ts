import { describe, expect, test } from 'vitest'
import { legibilityFindings } from '../support/browser.ts'
import { rowsOf, useConsole } from '../support/console.ts'
import { useService } from '../support/running-service.ts'

/** The console's banks, customers, clock and scenarios, in Chromium. */

const service = useService()
const { openScreen, problems } = useConsole(service)

describe('banks', () => {
  test('a bank of a sandbox rejects on demand, and is normal again', async () => {
    const page = await openScreen('banks')
    const row = rowsOf(page, 'Banks').filter({ hasText: 'Ecobank' })
    await row.getByRole('button', { name: 'Rejecting' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Failure code').selectOption('insufficient_funds')
    await dialog.getByLabel('Duration').selectOption('5m')
    expect(await legibilityFindings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Rejecting' }).click()
    await row.getByText('insufficient funds').waitFor()
    await row.getByText(/ends in [45] min/).waitFor()
    expect(await legibilityFindings(page)).toEqual([])
    const { reference } = await service.charge({ bank_identifier: 'ECO' })
    expect((await service.until(reference, 'failed')).error_code).toBe('insufficient_funds')
    await row.getByRole('button', { name: 'Normal' }).click()
    await row.getByText('normal', { exact: true }).waitFor()
  })

  test('a bank has settings; a refused change shows the reason', async () => {
    const page = await openScreen('banks')
    const row = rowsOf(page, 'Banks').filter({ hasText: 'Zenith' })
    await row.getByRole('button', { name: 'Change' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Status').selectOption('inactive')
    await dialog.getByLabel('Maximum').fill('ten')
    await dialog.getByRole('button', { name: 'Change' }).click()
    await dialog.getByRole('alert').getByText('--maximum').waitFor()
    expect(problems()).toEqual([expect.stringContaining('422')])
    await dialog.getByLabel('Maximum').fill('10.00')
    await dialog.getByRole('button', { name: 'Change' }).click()
    await row.getByText('inactive', { exact: true }).waitFor()
    await row.getByText('10.00').waitFor()
  })
})

describe('customers', () => {
  test('a customer is found by number, and gets an account', async () => {
    const page = await openScreen('customers')
    await page.getByText('Enter a phone number').waitFor()
    await page.getByRole('link', { name: '+233241234567' }).click()
    await rowsOf(page, 'Accounts').filter({ hasText: 'GCB' }).getByText('Ama Mensah').waitFor()
    expect(await legibilityFindings(page)).toEqual([])
    await page.getByLabel('Phone number').fill('+233201112223')
    await page.getByRole('button', { name: 'Show accounts' }).click()
    await page.getByText('No account has this number').waitFor()
    await page.getByRole('button', { name: 'Link an account' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Bank').selectOption('ABSA')
    await dialog.getByLabel('Name of the customer').fill('Efua Sarpong')
    await dialog.getByLabel('Account number').fill('1234567')
    await dialog.getByRole('button', { name: 'Link an account' }).click()
    const row = rowsOf(page, 'Accounts').filter({ hasText: 'Efua Sarpong' })
    await row.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No account has this number').waitFor()
  })

  test('a malformed number shows the reason', async () => {
    const page = await openScreen('customers?phone=12')
    await page.getByRole('alert').getByText('--phone').waitFor()
    expect([...new Set(problems())]).toEqual([expect.stringContaining('422')])
  })
})

describe('the clock', () => {
  test('the clock moves, stops and continues, and a reset needs a confirmation', async () => {
    const page = await openScreen('clock')
    await page.getByText('running', { exact: true }).waitFor()
    expect(await legibilityFindings(page)).toEqual([])
    const before = Date.now()
    await page.getByRole('button', { name: '+1 day' }).click()
    await page.getByText('The clock is at').waitFor()
    const [{ at }] = await service.call('change', 'list', { limit: '1' })
    expect(Date.parse(at)).toBeLessThan(before)
    await page.getByRole('button', { name: 'Advance…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Duration').fill('soon')
    await dialog.getByRole('button', { name: 'Advance…' }).click()
    await dialog.getByRole('alert').getByText('must be a duration').waitFor()
    expect(problems()).toEqual([expect.stringContaining('422')])
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
})

describe('scenarios', () => {
  test('a scenario plays, and links the debit that it ends', async () => {
    const page = await openScreen('scenarios')
    await rowsOf(page, 'Scenarios').getByText('late-completion').waitFor()
    expect(await legibilityFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'completed', exact: true }).click()
    const row = rowsOf(page, 'Played scenarios')
    await row.getByText('completed').first().waitFor()
    expect(await legibilityFindings(page)).toEqual([])
    await row.getByRole('link').click()
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  })

  test('the screen shows the refusal of a scenario with an unknown debit', async () => {
    const page = await openScreen('scenarios')
    await page.getByLabel('Debit (optional)').fill('DCS-20260101-ABC123')
    await page.getByRole('button', { name: 'completed', exact: true }).click()
    await page.locator('.toasts .failed').waitFor()
    expect(problems()).toEqual([expect.stringMatching(/status of 4/)])
  })
})
