/** The state machine that exports the table at night (docs/restore.md#lake), in JSONata. */

/** After settlement, reconciliation and seal of the day before. */
const AT = 'T04:00:00Z'

type Names = { TableArn: string; S3Bucket: string; S3SseKmsKeyId: string }

const DAY_MS = 86_400_000

/** Input: `time`, whose day ends the export, and `full`. The first of a month is full: older files expire. */
export const exportDefinition = (names: Names) => ({
  QueryLanguage: 'JSONata',
  StartAt: 'Export',
  States: {
    Export: {
      Type: 'Task',
      Resource: 'arn:aws:states:::aws-sdk:dynamodb:exportTableToPointInTime',
      Arguments: `{% (
        $at := $substring($states.input.time, 0, 10) & '${AT}';
        $isFull := $states.input.full = true or $substring($at, 8, 2) = '01';
        $merge([
          ${JSON.stringify({ ...names, S3SseAlgorithm: 'KMS', ExportFormat: 'DYNAMODB_JSON' })},
          {'ClientToken': $states.context.Execution.Name},
          $isFull ? {'ExportType': 'FULL_EXPORT', 'ExportTime': $at} : {
            'ExportType': 'INCREMENTAL_EXPORT',
            'IncrementalExportSpecification': {
              'ExportFromTime': $fromMillis($toMillis($at) - ${DAY_MS}),
              'ExportToTime': $at,
              'ExportViewType': 'NEW_IMAGE'
            }
          }
        ])
      ) %}`,
      Output: '{% $states.result.ExportDescription.ExportArn %}',
      Retry: [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 60, MaxAttempts: 6, BackoffRate: 2 }],
      Next: 'Wait',
    },
    Wait: { Type: 'Wait', Seconds: 300, Next: 'Describe' },
    Describe: {
      Type: 'Task',
      Resource: 'arn:aws:states:::aws-sdk:dynamodb:describeExport',
      Arguments: { ExportArn: '{% $states.input %}' },
      Assign: { status: '{% $states.result.ExportDescription.ExportStatus %}' },
      Output: '{% $states.input %}',
      Retry: [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 60, MaxAttempts: 6 }],
      Next: 'Decide',
    },
    Decide: {
      Type: 'Choice',
      Choices: [
        { Condition: "{% $status = 'COMPLETED' %}", Next: 'Done' },
        { Condition: "{% $status = 'IN_PROGRESS' %}", Next: 'Wait' },
      ],
      Default: 'Failed',
    },
    Done: { Type: 'Succeed' },
    Failed: { Type: 'Fail', Error: 'ExportFailed' },
  },
})
