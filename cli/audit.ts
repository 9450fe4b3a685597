import { spawnSync } from 'node:child_process'
import { fail } from './functions-client.ts'

/**
 * `npm run audit [-- --allow-unchecked]`: known weaknesses, high or worse, in what is deployed; exit
 * 1 if there are any. Also when the registry keeps no advisories or does not answer, unless allowed.
 */

const ALLOW = '--allow-unchecked'

type Found = { severity: string; range: string; fixAvailable: unknown }
type Report = {
  vulnerabilities?: Record<string, Found>
  /** Of a registry's answer that is no report. */
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

const read = (): Report => {
  try {
    return JSON.parse(stdout) as Report
  } catch {
    return { message: stderr.trim().split('\n')[0] ?? '' }
  }
}

const { vulnerabilities, statusCode, uri, message, error } = read()
if (vulnerabilities) {
  const severe = Object.entries(vulnerabilities).filter(([, { severity }]) => SEVERE.has(severity))
  for (const [name, { severity, range, fixAvailable }] of severe) {
    const remedy = fixAvailable ? 'mended by a newer version' : 'not mended yet'
    process.stderr.write(`${name} ${range}: ${severity}, ${remedy}\n`)
  }
  if (severe.length > 0) fail(`${severe.length} of what is deployed; npm audit tells more`)
  process.stdout.write('audit: nothing high or critical in what is deployed\n')
} else {
  const reason =
    statusCode !== undefined && uri !== undefined
      ? `${new URL(uri).host} keeps no advisories (${statusCode})`
      : message || error?.summary || 'npm gave no report'
  const line = `audit: not checked, ${reason}`
  if (!process.argv.includes(ALLOW)) fail(`${line}; ${ALLOW} accepts that`)
  process.stdout.write(`${line}\n`)
}
