import type { DashboardErrorEnvelope } from '../../../../src/contract/dashboard/errors.ts';
import { ApiFailure, apiUrl, noticed } from '../../api/client.ts';
import { currentSession } from '../../api/session-end.ts';

/** Uploads one file and says how far it is, which fetch can't. */
export function uploadPhoto(itemId: string, file: File, onProgress: (percent: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const session = currentSession();
    const request = new XMLHttpRequest();
    request.open('POST', apiUrl('POST /items/{item_id}/photos', { params: { item_id: itemId } }));
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.upload.onprogress = ({ loaded, total }) => onProgress((loaded / total) * 100);
    request.onerror = () => reject(new Error('cut off'));
    request.onload = () => {
      if (request.status === 200) return resolve();
      try {
        const { error } = JSON.parse(request.responseText) as DashboardErrorEnvelope;
        reject(noticed(new ApiFailure(request.status, error), session));
      } catch {
        reject(new Error('no envelope'));
      }
    };
    request.send(file);
  });
}
