import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { healthy } from '../commands/smoke/stage-endpoint.ts'
import { SILENT } from '../support/requests.ts'
import { useService } from '../support/running-service.ts'
import { rowsOf, useConsole, useStage } from './console.ts'

/** The console of a service that replies late, in Chromium. */

const service = useService()
const openStage = useStage(service)
const { open, openScreen, expectProblem } = useConsole(service)

/** Holds the calls whose body has a text, or the first ones. @returns what lets them continue */
const hold = async (page: Page, text: string, most = Infinity): Promise<() => void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let count = 0
  await page.route('**/console/operator', async (route) => {
    if (route.request().postData()?.includes(text)) {
      count += 1
      if (count <= most) await promise
    }
    // A page that has left the screen does not wait for the reply.
    await route.continue().catch(() => undefined)
  })
  return resolve
}

test('the page says that it loads before the service has replied', async () => {
  const page = await openScreen('nothing')
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route('**/console/settings', async (route) => {
    await promise
    await route.continue()
  })
  await page.reload({ waitUntil: 'commit' })
  await page.getByRole('status').getByText('Loading').waitFor()
  resolve()
  await page.getByText('This screen does not exist').waitFor()
})

test('a filter shows none of the rows before it, and a late reply replaces no newer one', async () => {
  const { reference } = await service.charge({ phone_number: SILENT })
  const { reference: others } = await service.charge({ phone_number: SILENT }, 'sk_sandbox_other')
  const page = await openScreen('debits')
  const rows = rowsOf(page, 'Debits')
  await rows.nth(1).waitFor()
  const release = await hold(page, '"provider":"other"')
  const held = page.waitForRequest((request) => request.postData()?.includes('other') === true)
  await page.getByLabel('Provider').selectOption('other')
  await held
  await page.getByRole('status').getByText('Loading').waitFor()
  expect(await rows.count()).toBe(0)
  await page.getByLabel('Provider').selectOption('demo')
  await rows.filter({ hasText: reference }).waitFor()
  release()
  await page.getByLabel('Status').selectOption('processing')
  await rows.filter({ hasText: reference }).waitFor()
  expect(await rows.filter({ hasText: others }).count()).toBe(0)
  await page.getByLabel('Provider').selectOption('other')
  await rows.filter({ hasText: others }).waitFor()
})

test('a slow search does not replace a later one', async () => {
  const page = await openScreen('nothing')
  await page.getByText('This screen does not exist').waitFor()
  const search = async (text: string): Promise<void> => {
    await page.getByRole('searchbox', { name: 'Search' }).fill(text)
    await page.keyboard.press('Enter')
  }
  const text = '"noun":"provider"'
  const release = await hold(page, text, 1)
  const held = page.waitForRequest((request) => request.postData()?.includes(text) === true)
  await search('EARLIER-1')
  const request = await held
  await search('LATER-1')
  await page.waitForURL(/LATER-1/)
  release()
  await request.response()
  // The search reads the reply, and would follow it, before this reply.
  await page.evaluate(() => fetch('/console/settings').then((reply) => reply.text()))
  expect(page.url()).toContain('LATER-1')
})

test('a button and a dialog make no second call before the reply', async () => {
  await service.call('webhook', 'set', { provider: 'other', url: 'http://127.0.0.1:1/' })
  for (const [screen, name, verb] of [
    ['webhook/other', 'Ping', 'ping'],
    ['settlement', 'Run a day', 'run'],
  ] as const) {
    const page = await openScreen(screen)
    const release = await hold(page, `"verb":"${verb}"`)
    await page.getByRole('button', { name }).click()
    if (verb === 'run') await page.getByRole('dialog').getByRole('button', { name }).click()
    await page.locator(verb === 'run' ? 'dialog .primary:disabled' : 'button:disabled').waitFor()
    release()
  }
})

test('the failure of a call whose dialog was closed is shown', async () => {
  const page = await openScreen('settlement')
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route('**/console/operator', async (route) => {
    if (!route.request().postData()?.includes('"verb":"run"')) return route.continue()
    await promise
    await route.abort()
  })
  await page.getByRole('button', { name: 'Run a day' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Run a day' }).click()
  await dialog.getByRole('button', { name: 'Running' }).waitFor()
  await page.keyboard.press('Escape')
  // A dialog that Escape has closed has no role, and is in the page until its event.
  await page.locator('dialog').waitFor({ state: 'detached' })
  resolve()
  await page.getByRole('listitem').getByText('The console is not reachable').waitFor()
  expectProblem(/net::ERR_FAILED .*console\/operator/)
})

test('a screen that is left ends its calls, so that the next one does not wait for them', async () => {
  const page = await openScreen('banks')
  await rowsOf(page, 'Banks').first().waitFor()
  await hold(page, '"noun":"change"')
  const held = page.waitForRequest((request) => request.postData()?.includes('change') === true)
  await page.getByRole('link', { name: 'Operator changes' }).click()
  const request = await held
  const ended = page.waitForEvent('requestfailed', (failed) => failed === request)
  await page.getByRole('link', { name: 'Banks' }).click()
  expect((await ended).failure()?.errorText).toBe('net::ERR_ABORTED')
  await rowsOf(page, 'Banks').first().waitFor()
})

test('a page of a stage whose functions do not reply begins with the permissions of the page before', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const state = { ...healthy, replies: Promise.resolve() }
  const address = await openStage(state)
  onTestFinished(() => resolve())
  state.replies = promise
  const page = await open(`${address}#/debits`)
  await page.getByRole('heading', { name: 'Debits' }).waitFor()
  await page.getByText('arn:aws:iam::000000000000:user/ama').first().waitFor()
  await page.getByRole('status').getByText('Loading').waitFor()
  resolve()
  await rowsOf(page, 'Debits').first().waitFor()
})
