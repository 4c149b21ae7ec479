import { Stack, Stepper } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { DoubleClickGuard } from '../../ui/double-click-guard.tsx';
import { Page } from '../../ui/page/page.tsx';
import { ColumnsStep } from './columns-step.tsx';
import { FileStep } from './file-step.tsx';
import { CheckStep, ResultStep } from './result-steps.tsx';

/** Where the import stands, all of it in the address: back, reload and a sent link show the same step. */
export type ImportState = { kind?: 'listing' | 'part'; file?: string; check?: string; job?: string };

const STEPS = ['File', 'Columns', 'Check', 'Import'];

export function ImportPage() {
  const state = useSearch({ strict: false }) as ImportState;
  const navigate = useNavigate();
  const go = (next: ImportState) => void navigate({ to: paths.import(), search: next as never });
  const step = state.job !== undefined ? 3 : state.check !== undefined ? 2 : state.file !== undefined ? 1 : 0;
  /** An earlier step is a click away; the file stays where it is. */
  const stepBack = (to: number) => {
    if (to === 0) go({});
    else if (to === 1) go({ ...(state.file === undefined ? {} : { file: state.file }) });
    else if (to === 2) go({ ...state, job: undefined } as ImportState);
  };
  return (
    <Page title="Import stock">
      <Stack maw={960} gap="lg">
        <Stepper active={step} size="sm" wrap={false} className="wizard-steps" onStepClick={stepBack}>
          {STEPS.map((label, index) => (
            <Stepper.Step key={label} label={label} allowStepSelect={index < step} />
          ))}
        </Stepper>
        <DoubleClickGuard shows={STEPS[step]}>
          {step === 0 ? <FileStep kind={state.kind ?? 'listing'} onUploaded={(file) => go({ file })} /> : null}
          {step === 1 && state.file !== undefined ? (
            <ColumnsStep key={state.file} fileId={state.file} onChecked={(check) => go({ ...state, check })} />
          ) : null}
          {step === 2 && state.check !== undefined && state.file !== undefined ? (
            <CheckStep
              fileId={state.file}
              jobId={state.check}
              onStarted={(job) => go({ ...state, job })}
              onBack={() => stepBack(1)}
            />
          ) : null}
          {step === 3 && state.job !== undefined ? <ResultStep jobId={state.job} onAnother={() => go({})} /> : null}
        </DoubleClickGuard>
      </Stack>
    </Page>
  );
}
