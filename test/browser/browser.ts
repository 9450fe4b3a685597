import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'

/** Opens pages in headless Chromium, which `.ci/run` installs from Debian. */

const CHROMIUM = '/usr/bin/chromium'
const WIDTHS = [390, 768, 1280, 1600]
const COLOUR_SCHEMES = ['light', 'dark'] as const

/**
 * Starts Chromium for the tests of a file. A test fails if one of its pages violates its content
 * security policy, prints an error, throws, or requests another host.
 */
export const useBrowser = () => {
  let browser: Browser | undefined
  const contexts: BrowserContext[] = []
  const found: string[] = []
  const problems = (): string[] => found.splice(0)
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
    })
  })
  afterAll(() => browser?.close())
  const problemsAtEnd = async (): Promise<string[]> => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
    return problems()
  }
  afterEach(async () => expect(await problemsAtEnd()).toEqual([]))
  return {
    /** Opens a page 1280 px wide. */
    open: async (url: string): Promise<Page> => {
      if (!browser) throw new Error('Chromium is not running')
      const context = await browser.newContext({
        viewport: { width: 1280, height: 900 },
        reducedMotion: 'reduce',
      })
      contexts.push(context)
      const { host } = new URL(url)
      context.on('request', (request) => {
        const target = new URL(request.url())
        const isLocal = target.host === host || !/^(?:https?|wss?):$/.test(target.protocol)
        if (!isLocal) found.push(`requests ${target}`)
      })
      // Chromium prints violations of the content security policy as errors.
      context.on('console', (message) => {
        if (message.type() === 'error') found.push(`prints ${message.text()}`)
      })
      context.on('weberror', (error) => found.push(`throws ${error.error().message}`))
      const page = await context.newPage()
      await page.goto(url)
      return page
    },
    /** Removes and returns the problems that pages had so far. */
    problems,
    /** Closes the pages first: one that repeats its requests would have a problem again. */
    problemsAtEnd,
  }
}

type AxeException = { rule: string; within?: string; reason: string }

/** Returns the elements that are wider than the page; runs in the page. */
const OVERFLOWING = `(() => {
  const { clientWidth, scrollWidth } = document.documentElement
  if (scrollWidth <= clientWidth) return []
  return [...document.body.querySelectorAll('*')]
    .filter((element) => element.getBoundingClientRect().right > clientWidth + 0.5)
    .map((element) => element.cloneNode().outerHTML.slice(0, 120))
    .concat('scroll width ' + scrollWidth)
    .slice(-5)
})()`

/**
 * Returns the findings of axe in the present state of a page, and the elements that make it scroll
 * sideways, in light and dark, from 390 to 1600 px. An exception applies to a rule, or to its
 * targets that contain `within`.
 */
export const legibilityFindings = async (
  page: Page,
  exceptions: readonly AxeException[] = [],
): Promise<string[]> => {
  const { width: widthBefore = 1280, height = 900 } = page.viewportSize() ?? {}
  const findings: string[] = []
  for (const colorScheme of COLOUR_SCHEMES) {
    await page.emulateMedia({ colorScheme })
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height })
      const overflowing: string[] = await page.evaluate(OVERFLOWING)
      const found = [
        ...overflowing.map((element) => `overflow: ${element}`),
        ...(await axeFindings(page, colorScheme, exceptions)),
      ]
      findings.push(...found.map((finding) => `${colorScheme} ${width} px: ${finding}`))
    }
  }
  await page.emulateMedia({ colorScheme: null })
  await page.setViewportSize({ width: widthBefore, height })
  return findings
}

const axeFindings = async (
  page: Page,
  colourScheme: (typeof COLOUR_SCHEMES)[number],
  exceptions: readonly AxeException[],
): Promise<string[]> => {
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  // Only these rules depend on colours.
  if (colourScheme === 'dark') axe.withRules(['color-contrast', 'link-in-text-block'])
  const { violations } = await axe.analyze()
  const isExpected = (id: string, target: string): boolean =>
    exceptions.some(({ rule, within = '' }) => rule === id && target.includes(within))
  return violations.flatMap(({ id, nodes }) =>
    nodes.flatMap(({ target, failureSummary = '' }) =>
      isExpected(id, target.join(' '))
        ? []
        : [`${id} at ${target.join(' ')}: ${failureSummary.replaceAll(/\s+/g, ' ')}`],
    ),
  )
}
