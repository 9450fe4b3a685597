import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { afterEach, expect, test } from 'vitest'
import { openApiText } from '../../openapi/document.ts'
import { useService } from '../support/running-service.ts'

const service = useService()

const BROWSERS = [
  ...['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'],
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Disables the sandbox, as containers need, and network requests of the browser itself. */
const ARGUMENTS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--no-first-run'],
]

const profiles: string[] = []
afterEach(() => Promise.all(profiles.splice(0).map((folder) => rm(folder, { recursive: true }))))

test('the sandbox serves the API description', async () => {
  const response = await fetch(`${service.sandbox().address}/openapi.json`)
  expect(response.headers.get('content-type')).toContain('application/json')
  expect(await response.text()).toBe(openApiText())
})

test('the headers of the reference page forbid other hosts', async () => {
  const response = await fetch(`${service.sandbox().address}/docs`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await response.text()).not.toMatch(/https?:/)
})

test('the page shows and calls operations in a browser without other hosts', async () => {
  const executablePath = BROWSERS.find((path) => existsSync(path))
  if (!executablePath) {
    process.stdout.write('No browser found: the reference page was not opened in one\n')
    return
  }
  const profile = await mkdtemp(join(tmpdir(), 'reference-page-'))
  profiles.push(profile)
  const options = { executablePath, args: ARGUMENTS }
  const context = await chromium.launchPersistentContext(profile, options)
  try {
    const hosts: string[] = []
    const faults: string[] = []
    context.on('request', (request) => hosts.push(new URL(request.url()).host || 'data'))
    const page = await context.newPage()
    page.on('console', (line) => {
      if (line.type() === 'error') faults.push(line.text())
    })
    page.on('pageerror', (error) => faults.push(String(error)))
    const { address } = service.sandbox()
    await page.goto(`${address}/docs`)
    await page.getByText('Request a debit', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Authorize' }).click()
    await page.getByLabel('auth-bearer-value').first().fill('sk_sandbox_demo')
    await page.getByRole('button', { name: 'Apply credentials' }).first().click()
    await page.getByRole('button', { name: 'Close' }).last().click()
    await page.getByText('List banks', { exact: true }).click()
    await page.getByRole('button', { name: 'Try it out' }).click()
    await page.getByRole('button', { name: 'Execute' }).click()
    await page.locator('.live-responses-table').getByText('GCB Bank PLC').first().waitFor()
    expect([...new Set(hosts)].filter((host) => host !== 'data')).toEqual([new URL(address).host])
    expect(faults).toEqual([])
  } finally {
    await context.close()
  }
}, 60_000)
