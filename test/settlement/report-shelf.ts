import { PutObjectCommand, type PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3'
import { mockClient } from 'aws-sdk-client-mock'
import { intercepted } from './intercept.ts'

/** Replaces S3 by a map. Lists in `differing` the reports that were written with two contents. */
export const useReportShelf = () => {
  process.env.REPORTS_BUCKET = 'reports'
  const reports = new Map<string, string>()
  const differing: string[] = []
  mockClient(S3Client)
    .on(PutObjectCommand)
    .callsFake(({ Key = '', Body }: PutObjectCommandInput) =>
      intercepted({ name: 'PutObject', isWrite: true }, async () => {
        const text = String(Body)
        if ((reports.get(Key) ?? text) !== text) differing.push(Key)
        reports.set(Key, text)
        return {}
      }),
    )
  return { reports, differing }
}
