/* Messages between ranks by MPI. A library of its own, which the program loads only where it was started by
 * mpirun or the like: without MPI it needs nothing of it. */
#include "../ranks.h"

#include <mpi.h>
#include <string.h>

enum { TAG = 1 };

static int begin(int *rank, int *size)
{
  int provided = 0;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return 0;
  if (provided < MPI_THREAD_FUNNELED) return 0;
  return MPI_Comm_rank(MPI_COMM_WORLD, rank) == MPI_SUCCESS &&
         MPI_Comm_size(MPI_COMM_WORLD, size) == MPI_SUCCESS;
}

static int send_to(int rank, const void *bytes, size_t n)
{
  return MPI_Send(bytes, (int)n, MPI_BYTE, rank, TAG, MPI_COMM_WORLD) == MPI_SUCCESS;
}

static int receive_from(int rank, void *bytes, size_t n)
{
  MPI_Status status;
  if (MPI_Recv(bytes, (int)n, MPI_BYTE, rank < 0 ? MPI_ANY_SOURCE : rank, TAG, MPI_COMM_WORLD, &status) !=
      MPI_SUCCESS)
    return -1;
  return status.MPI_SOURCE;
}

static int is_waiting(void)
{
  int waits = 0;
  return MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &waits, MPI_STATUS_IGNORE) == MPI_SUCCESS && waits;
}

static void end(void)
{
  MPI_Finalize();
}

static void give_up(int code)
{
  MPI_Abort(MPI_COMM_WORLD, code);
}

__attribute__((visibility("default")))
const app_rank_functions galpha_rank_functions = {begin, send_to, receive_from, is_waiting, end, give_up};
