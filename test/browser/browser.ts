import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Result } from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { eventually } from '../support/eventually.ts'

/** Opens pages in headless Chromium. */

/** The shell, which `.ci/run` installs from Debian, takes half of the time. */
const SHELL = '/usr/bin/chromium-headless-shell'
const CHROMIUM = existsSync(SHELL) ? SHELL : '/usr/bin/chromium'
const NARROW = 320
const OTHER_WIDTHS = [768, 1280, 1600]
const COLOUR_SCHEMES = ['light', 'dark'] as const

/**
 * Starts Chromium for the tests of a file. A test fails if one of its pages violates its content
 * security policy, prints an error, throws, or requests another host, unless it expects the problem.
 */
export const useBrowser = () => {
  let browser: Browser | undefined
  let next: Promise<Page> | undefined
  const contexts: BrowserContext[] = []
  const found: string[] = []
  const expected: RegExp[] = []
  const allowed: RegExp[] = []
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
    })
  })
  afterAll(async () => {
    await next?.catch(() => undefined)
    await browser?.close()
  })
  /** Opens an empty page 1280 px wide; a test runs while the page of the next one starts. */
  const openPage = async (): Promise<Page> => {
    if (!browser) throw new Error('Chromium is not running')
    const viewport = { width: 1280, height: 900 }
    return (await browser.newContext({ viewport, reducedMotion: 'reduce' })).newPage()
  }
  afterEach(async () => {
    const certain = expected.splice(0)
    const known = [...certain, ...allowed.splice(0)]
    try {
      // Chromium reports a problem some time after the page has it.
      for (const pattern of certain)
        await eventually(() => expect(found).toContainEqual(expect.stringMatching(pattern)))
    } finally {
      // A page that repeats its requests has the problem until it is closed.
      await Promise.all(contexts.splice(0).map(closeContext))
    }
    const others = found
      .splice(0)
      .filter((problem) => !known.some((pattern) => pattern.test(problem)))
    expect(others).toEqual([])
  })
  return {
    open: async (url: string): Promise<Page> => {
      const page = await (next ?? openPage())
      next = openPage()
      const context = page.context()
      contexts.push(context)
      const { host } = new URL(url)
      context.on('request', (request) => {
        const target = new URL(request.url())
        const isLocal = target.host === host || !/^(?:https?|wss?):$/.test(target.protocol)
        if (!isLocal) found.push(`requests ${target}`)
      })
      // Chromium prints violations of the content security policy as errors.
      context.on('console', (message) => {
        if (message.type() === 'error')
          found.push(`prints ${message.text()} (${message.location().url})`)
      })
      context.on('weberror', (error) => found.push(`throws ${error.error().message}`))
      await page.goto(url)
      return page
    },
    /** Fails the test unless its pages have this problem, once or more. */
    expectProblem: (pattern: RegExp): void => void expected.push(pattern),
    /** Lets the pages of the test have this problem. */
    allowProblem: (pattern: RegExp): void => void allowed.push(pattern),
  }
}

/** The routes of a page that is closed meanwhile have no reply to change. */
const closeContext = async (context: BrowserContext): Promise<void> => {
  await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })))
  await context.close()
}

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

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
 * Runs axe in the page. Only an element that has changed its colours, or scrolls since an earlier run, can
 * have another finding of the first rules; the others depend on which elements are visible.
 */
const RUN_AXE = `async (scheme, isFirst) => {
  const seen = (window.seenByAxe ??= new WeakMap())
  const stateOf = (element) => {
    const style = getComputedStyle(element)
    const { scrollHeight, clientHeight, scrollWidth, clientWidth } = element
    const isLarger = scrollHeight > clientHeight || scrollWidth > clientWidth
    const scrolls = scheme === 'light' && isLarger && style.overflow !== 'visible'
    return [scrolls, scheme, style.color, style.backgroundColor,
      style.backgroundImage, style.fontSize, style.fontWeight, style.textDecoration].join()
  }
  const isVisible = (element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  let hasAppeared = false
  const changed = [...document.querySelectorAll('*')].filter(isVisible).filter((element) => {
    const states = seen.get(element) ?? new Set()
    seen.set(element, states)
    const { size } = states
    hasAppeared ||= size === 0
    return states.add(stateOf(element)).size > size
  })
  // Without the elements within others, which follow these.
  const include = changed.reduce(
    (roots, element) => (roots.at(-1)?.contains(element) ? roots : [...roots, element]), [])
  const rules = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable']
  const resultTypes = ['violations']
  const runs = []
  if (include.length > 0) runs.push(await axe.run({ include }, { resultTypes, runOnly: rules }))
  if (isFirst || hasAppeared) {
    const others = Object.fromEntries(rules.map((rule) => [rule, { enabled: false }]))
    runs.push(await axe.run(document, { resultTypes, rules: others }))
  }
  return runs.flatMap(({ violations }) => violations)
}`

/**
 * Returns the findings of axe in the present state of a page, and the elements that make it scroll
 * sideways, in light and dark, from `narrow` to 1600 px. The contrast of an element has one finding. An
 * exception applies to a rule, or to its targets that contain `within`.
 */
export const legibilityFindings = async (
  page: Page,
  exceptions: readonly AxeException[] = [],
  narrow = NARROW,
): Promise<string[]> => {
  const { width: widthBefore = 1280, height = 900 } = page.viewportSize() ?? {}
  const findings: string[] = []
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe)
  for (const colorScheme of COLOUR_SCHEMES) {
    await page.emulateMedia({ colorScheme })
    for (const width of [narrow, ...OTHER_WIDTHS]) {
      await page.setViewportSize({ width, height })
      const overflowing: string[] = await page.evaluate(OVERFLOWING)
      const isFirst = colorScheme === 'light' && width === narrow
      const run = `(${RUN_AXE})('${colorScheme}', ${isFirst})`
      const found = [
        ...overflowing.map((element) => `overflow: ${element}`),
        ...axeFindings(await page.evaluate(run), exceptions),
      ]
      findings.push(...found.map((finding) => `${colorScheme} ${width} px: ${finding}`))
    }
  }
  await page.emulateMedia({ colorScheme: null })
  await page.setViewportSize({ width: widthBefore, height })
  return findings
}

const axeFindings = (violations: Result[], exceptions: readonly AxeException[]): string[] => {
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
