import type { DashboardErrorEnvelope } from '../../../src/contract/dashboard/errors.ts';
import { ApiFailure, noticed } from './client.ts';
import { currentSession } from './session-end.ts';

/** Uploads one file and says how far it is, which fetch can't. Resolves with the answer. */
export function uploadFile<Answer>(url: string, file: File, onProgress: (percent: number) => void): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const session = currentSession();
    const request = new XMLHttpRequest();
    request.open('POST', url);
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.upload.onprogress = ({ loaded, total }) => onProgress((loaded / total) * 100);
    request.onerror = () => reject(new Error('cut off'));
    request.onload = () => {
      try {
        const answer = JSON.parse(request.responseText) as unknown;
        if (request.status === 200) resolve(answer as Answer);
        else reject(noticed(new ApiFailure(request.status, (answer as DashboardErrorEnvelope).error), session));
      } catch {
        reject(new Error('no envelope'));
      }
    };
    request.send(file);
  });
}
