import { spawnSync } from 'node:child_process'
import { fail } from './fail.ts'

/**
 * `npm run audit [-- --allow-unchecked]`: prints high and critical advisories of deployed packages and
 * exits 1 if there are any, or if the registry gives none (unless allowed).
 */

const ALLOW = '--allow-unchecked'

type AuditReport = {
  vulnerabilities?: Record<string, { severity: string; range: string; fixAvailable: unknown }>
  /** Fields of a reply that is not a report. */
  statusCode?: number
  uri?: string
  message?: string
  error?: { summary?: string }
}

const SEVERE = new Set(['high', 'critical'])

const { stdout, stderr } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
  encoding: 'utf8',
  shell: process.platform === 'win32',
})

const readReport = (): AuditReport => {
  try {
    return JSON.parse(stdout) as AuditReport
  } catch {
    return { message: stderr.trim().split('\n')[0] ?? '' }
  }
}

const { vulnerabilities, statusCode, uri, message, error } = readReport()
if (vulnerabilities) {
  const severe = Object.entries(vulnerabilities).filter(([, { severity }]) => SEVERE.has(severity))
  for (const [name, { severity, range, fixAvailable }] of severe) {
    const remedy = fixAvailable ? 'fixed in a newer version' : 'not fixed yet'
    process.stderr.write(`${name} ${range}: ${severity}, ${remedy}\n`)
  }
  if (severe.length > 0)
    fail(`${severe.length} advisories for deployed packages; npm audit prints details`)
  process.stdout.write('audit: no high or critical advisories for deployed packages\n')
} else {
  const reason =
    statusCode !== undefined && uri !== undefined
      ? `${new URL(uri).host} provides no advisories (${statusCode})`
      : message || error?.summary || 'npm printed no report'
  const line = `audit: not checked, ${reason}`
  if (!process.argv.includes(ALLOW)) fail(`${line}; ${ALLOW} accepts this`)
  process.stdout.write(`${line}\n`)
}
