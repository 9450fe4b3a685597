import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { useService } from '../support/running-service.ts'
import { legibilityFindings, useBrowser } from './browser.ts'

const service = useService()
const { open } = useBrowser()

/** The page draws only the operations in sight. */
const CHARGE = '#api/tag/debit-requests/POST/api/v1/payment-providers/debit-requests/charge'
const openReference = async (anchor = CHARGE) => {
  const page = await open(`${service.sandbox().address}/docs${anchor}`)
  await page.getByRole('button', { name: 'Test Request' }).first().waitFor()
  return page
}

const exceptions = [
  { rule: 'button-name', within: 'scalar-refs', reason: 'switches of Scalar without a name' },
  { rule: 'scrollable-region-focusable', within: '.endpoints', reason: 'a list of Scalar' },
]

/** The tooltips of Scalar need 337 px. */
const findingsIn = (page: Page) => legibilityFindings(page, exceptions, 390)

test('the reference is legible at every width, in light and dark', async () => {
  expect(await findingsIn(await openReference())).toEqual([])
})

test('the reference has the protocol for banks, which offers no request', async () => {
  const page = await open(`${service.sandbox().address}/docs`)
  await page.getByRole('button', { name: 'API for providers and banks' }).click()
  await page.getByRole('option', { name: 'Protocol for banks' }).click()
  await page.getByRole('heading', { name: 'Submit a debit', exact: true }).waitFor()
  expect(await page.getByRole('button', { name: 'Test Request' }).count()).toBe(0)
  expect(await findingsIn(page)).toEqual([])
})

test('the reference has samples for curl, Node and Python alone', async () => {
  const page = await openReference()
  const url = `${service.sandbox().address}/api/v1/payment-providers/debit-requests/charge`
  await page.getByRole('button', { name: 'Shell Curl' }).first().click()
  const samples = page.getByRole('option')
  expect((await samples.allInnerTexts()).sort()).toEqual(['Curl', 'Fetch', 'Requests'])
  for (const [sample, call] of [
    ['Curl', `curl ${url}`],
    ['Fetch', `fetch('${url}'`],
    ['Requests', `requests.post(\n    "${url}"`],
  ] as const) {
    await samples.filter({ hasText: sample }).click()
    await page.locator('pre', { hasText: call }).first().waitFor()
    await page.getByRole('button', { name: sample }).first().click()
  }
})

test.each([
  ['a provider', CHARGE, 'post /api/v1/payment-providers/debit-requests/charge', '202 Accepted'],
  [
    'a bank',
    '#api/tag/bank-reports/GET/api/v1/banks/debit-transactions',
    'get /api/v1/banks/debit-transactions',
    '200 OK',
  ],
])('a request of %s has its key and succeeds as it is shown', async (_, anchor, name, status) => {
  const page = await openReference(anchor)
  await page.getByRole('button', { name: `Test Request (${name})` }).click()
  await page.getByRole('button', { name: /^Send \w+ request to/ }).click()
  await page.getByText(status).waitFor()
})
