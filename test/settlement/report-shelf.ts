import { PutObjectCommand, type PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3'
import { mockClient } from 'aws-sdk-client-mock'
import { met } from './meeting.ts'

/** Where reports are put in tests of settlement: one that is written again must be the same. */
export const useReportShelf = () => {
  process.env.REPORTS_BUCKET = 'reports'
  const reports = new Map<string, string>()
  const differing: string[] = []
  mockClient(S3Client)
    .on(PutObjectCommand)
    .callsFake(({ Key = '', Body }: PutObjectCommandInput) =>
      met({ name: 'PutObject', isWrite: true }, async () => {
        const text = String(Body)
        if ((reports.get(Key) ?? text) !== text) differing.push(Key)
        reports.set(Key, text)
        return {}
      }),
    )
  return { reports, differing }
}
