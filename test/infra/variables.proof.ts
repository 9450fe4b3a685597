import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { buildBundles, bundleFolder } from '../../infra/bundles/build.ts'
import { environmentOf } from '../../infra/definitions/environment.ts'
import { functionRows } from '../../infra/definitions/functions.ts'
import type { environment } from '../../shared/runtime.ts'
import { newFolder } from '../support/folders.ts'

/** Compares the variables of each function with the settings that its bundle reads. */

const folder = newFolder()
await buildBundles(undefined, folder)

const settings = {
  stage: 'sandbox',
  limits: 'sandbox' as const,
  referencePrefix: 'DCS',
  ownHosts: ['api.example.com'],
  errorGuide: 'https://docs.example.com/errors',
  hasSandboxBank: true,
  payoutsWaitForFunding: true,
  openPromptsMax: 5,
  eraseAfterDays: 2_190,
  retainYears: 7,
  approvals: true,
  claimedOperators: true as const,
  throttle: { perSecond: 2_000, burst: 4_000 },
  bankClientCertificate: { secretArn: 'secret' },
}
const addresses = {
  tableName: 'table',
  queueUrl: String,
  queueArn: String,
  scheduleGroup: 'group',
  scheduleRoleArn: 'role',
  sealingKeyArn: 'key',
  reportsBucket: 'bucket',
  auditBucket: 'audit',
  functionPrefix: 'prefix',
}

/** The variable of each setting; null: all functions have it, or only Lambda or a local sandbox sets it. */
const variables: Record<keyof typeof environment, string | null> = {
  stage: null,
  limits: null,
  logLevel: null,
  metricsDisabled: null,
  localS3: null,
  timeScale: null,
  cacheSeconds: null,
  localPeers: null,
  referencePrefix: 'REFERENCE_PREFIX',
  ownHosts: 'OWN_HOSTS',
  errorGuide: 'ERROR_GUIDE',
  sandboxBank: 'SANDBOX_BANK',
  payoutsWaitForFunding: 'PAYOUTS_WAIT_FOR_FUNDING',
  defaultPromptsMax: 'OPEN_PROMPTS_MAX',
  requiresApprovals: 'APPROVALS',
  claimedOperators: 'CLAIMED_OPERATORS',
  eraseAfterDays: 'ERASE_AFTER_DAYS',
  retainYears: 'RETAIN_YEARS',
  feedGroups: 'FEED_GROUPS',
  // Bundles that unseal nothing contain the code too.
  sealingKey: null,
  bankClientCertificateArn: 'BANK_CLIENT_CERTIFICATE_ARN',
  functionPrefix: 'FUNCTION_PREFIX',
  tableName: 'TABLE_NAME',
  reportsBucket: 'REPORTS_BUCKET',
  auditBucket: 'AUDIT_BUCKET',
  schedules: 'SCHEDULE_GROUP',
}

const rows = Object.entries(variables).flatMap(([setting, variable]) =>
  variable === null ? [] : [[setting, variable] as const],
)

test.each(rows)(
  'the bundles that read %s are exactly those with the variable %s',
  (setting, variable) => {
    const read: string[] = []
    for (const { name } of functionRows) {
      const files = globSync(`${bundleFolder(name, folder)}/*.mjs`)
      const reads = new RegExp(`\\.${setting}\\b`)
      if (files.some((file) => reads.test(readFileSync(file, 'utf8')))) read.push(name)
    }
    const recipients = functionRows.filter(
      (row) => variable in environmentOf(row, settings, addresses),
    )
    expect(recipients.map(({ name }) => name)).toEqual(read)
  },
)
