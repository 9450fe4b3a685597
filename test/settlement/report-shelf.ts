import { S3Client } from '@aws-sdk/client-s3'
import { vi } from 'vitest'
import { newBucket } from '../../sandbox/aws/bucket.ts'
import { noJournal } from '../../sandbox/aws/journal.ts'

/** Keeps the reports and the audit of a file's tests. @returns the stored objects */
export const useReportShelf = () => {
  Object.assign(process.env, { REPORTS_BUCKET: 'reports', AUDIT_BUCKET: 'audit' })
  const { calls, objects } = newBucket(noJournal)
  const perform = calls as Record<string, (input: unknown) => unknown>
  vi.spyOn(S3Client.prototype, 'send').mockImplementation(
    async (command: { constructor: { name: string }; input: unknown }) =>
      perform[command.constructor.name]?.(command.input),
  )
  return objects
}
