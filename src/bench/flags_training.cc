#include "bench/param_table.h"

namespace muster::bench {

// Data, optimisation, clusters and files.
void AddTrainingParams(ParamTable& table) {
  using P = BenchParams;
  table.Group("Data");
  table.Add("data_dir", &P::data_dir, "folder of training data; unset: synthetic images made in memory");
  table.Add("data_name", &P::data_name, "imagenet or cifar10; unset: imagenet").Important();
  table.Add("resize_method", &P::resize_method, "how images are resized");
  table.Add("distortions", &P::distortions, "distort the colours of training images");
  table.Add("distort_color_in_yiq", &P::distort_color_in_yiq, "distort hue and saturation in YIQ");
  table.Add("fuse_decode_and_crop", &P::fuse_decode_and_crop, "decode only the part of a JPEG that is used");
  table.Add("input_preprocessor", &P::input_preprocessor, "which preprocessing");
  table.Add("ml_perf", &P::ml_perf, "MLPerf's preprocessing");
  table.Add("use_datasets", &P::use_datasets, "read with tf.data");
  table.Add("datasets_use_prefetch", &P::datasets_use_prefetch, "prefetch to each device");
  table.Add("datasets_prefetch_buffer_size", &P::datasets_prefetch_buffer_size,
            "has no effect in tf_cnn_benchmarks either");
  table.Add("datasets_num_private_threads", &P::datasets_num_private_threads, "input threads");
  table.Add("datasets_use_caching", &P::datasets_use_caching, "keep compressed records in memory");
  table.Add("datasets_repeat_cached_sample", &P::datasets_repeat_cached_sample, "read one record and repeat it");
  table.Add("datasets_parallel_interleave_cycle_length", &P::datasets_parallel_interleave_cycle_length,
            "files read in parallel");
  table.Add("datasets_sloppy_parallel_interleave", &P::datasets_sloppy_parallel_interleave,
            "give up the order of files for speed");
  table.Add("datasets_parallel_interleave_prefetch", &P::datasets_parallel_interleave_prefetch,
            "read-ahead of each file");
  table.Add("multi_device_iterator_max_buffer_size", &P::multi_device_iterator_max_buffer_size,
            "batches buffered for each device");
  table.Group("Optimisation");
  table.Add("optimizer", &P::optimizer, "momentum is Nesterov's")
      .OneOf({"momentum", "sgd", "rmsprop", "adam"})
      .Important();
  table.Add("init_learning_rate", &P::init_learning_rate, "overrides the model's own schedule").Important();
  table.Add("piecewise_learning_rate_schedule", &P::piecewise_learning_rate_schedule,
            "LR0;E1;LR1;...;En;LRn: rate LRi from epoch Ei on");
  table.Add("num_epochs_per_decay", &P::num_epochs_per_decay, "with --init_learning_rate: epochs between decays");
  table.Add("learning_rate_decay_factor", &P::learning_rate_decay_factor,
            "with --init_learning_rate: what the rate is multiplied by");
  table.Add("minimum_learning_rate", &P::minimum_learning_rate, "floor of that decay");
  table.Add("num_learning_rate_warmup_epochs", &P::num_learning_rate_warmup_epochs, "epochs of a linear ramp from 0");
  table.Add("resnet_base_lr", &P::resnet_base_lr,
            "rate of a ResNet's own schedule at 256 images per step; 0.128 when unset");
  table.Add("momentum", &P::momentum, "momentum of the momentum optimizer").Important();
  table.Add("rmsprop_decay", &P::rmsprop_decay, "decay of the mean square");
  table.Add("rmsprop_momentum", &P::rmsprop_momentum, "momentum of RMSProp");
  table.Add("rmsprop_epsilon", &P::rmsprop_epsilon, "added to the mean square, inside the root");
  table.Add("adam_beta1", &P::adam_beta1, "decay of the first moment");
  table.Add("adam_beta2", &P::adam_beta2, "decay of the second moment");
  table.Add("adam_epsilon", &P::adam_epsilon, "added to the root of the second moment");
  table.Add("gradient_clip", &P::gradient_clip, "clip every gradient element to plus or minus this");
  table.Add("weight_decay", &P::weight_decay, "factor of the L2 loss of the weights").Important();
  table.Add("loss_type_to_report", &P::loss_type_to_report, "which loss is shown").OneOf({"base_loss", "total_loss"});
  table.Add("single_l2_loss_op", &P::single_l2_loss_op,
            "one L2 loss over all weights together; the result is the same");
  table.Add("compute_lr_on_cpu", &P::compute_lr_on_cpu, "where the learning rate is computed");
  table.Add("sparse_to_dense_grads", &P::sparse_to_dense_grads, "make sparse gradients dense");
  table.Add("tf_random_seed", &P::tf_random_seed, "seed of weights and synthetic data");
  table.Add("use_fp16", &P::use_fp16, "compute in half precision");
  table.Add("fp16_loss_scale", &P::fp16_loss_scale, "factor of the loss with --use_fp16");
  table.Add("fp16_enable_auto_loss_scale", &P::fp16_enable_auto_loss_scale, "adapt that factor");
  table.Add("fp16_inc_loss_scale_every_n", &P::fp16_inc_loss_scale_every_n, "clean steps before the factor doubles");
  table.Add("fp16_vars", &P::fp16_vars, "half-precision weights");
  table.Group("Gradient exchange and clusters");
  table.Add("variable_update", &P::variable_update, "how variables and gradients are shared")
      .OneOf({"parameter_server", "replicated", "distributed_replicated", "independent", "distributed_all_reduce",
              "collective_all_reduce", "horovod"});
  table.Add("all_reduce_spec", &P::all_reduce_spec, "all-reduce algorithm");
  table.Add("gradient_repacking", &P::gradient_repacking, "reduce all gradients as N packs").AtLeast(0);
  table.Add("compact_gradient_transfer", &P::compact_gradient_transfer,
            "with --use_fp16: exchange gradients in half precision");
  table.Add("variable_consistency", &P::variable_consistency, "relaxed: gradients arrive one step late")
      .OneOf({"strong", "relaxed"});
  table.Add("hierarchical_copy", &P::hierarchical_copy, "two-group reduction for 8 GPUs");
  table.Add("network_topology", &P::network_topology, "how those GPUs are linked").OneOf({"dgx1", "gcp_v100"});
  table.Add("agg_small_grads_max_bytes", &P::agg_small_grads_max_bytes, "pack gradients up to this size");
  table.Add("agg_small_grads_max_group", &P::agg_small_grads_max_group, "at most this many in a pack");
  table.Add("allreduce_merge_scope", &P::allreduce_merge_scope, "gradients per name scope");
  table.Add("staged_vars", &P::staged_vars, "pipeline variable reads and gradients");
  table.Add("job_name", &P::job_name, "this process's job in the cluster; '': no cluster")
      .OneOf({"ps", "worker", "controller", ""});
  table.Add("task_index", &P::task_index, "this process's number in the job");
  table.Add("ps_hosts", &P::ps_hosts, "host:port of each parameter server");
  table.Add("worker_hosts", &P::worker_hosts, "host:port of each worker");
  table.Add("controller_host", &P::controller_host, "host:port of the controller");
  table.Add("server_protocol", &P::server_protocol, "transport between processes");
  table.Add("cross_replica_sync", &P::cross_replica_sync, "workers keep in step");
  table.Add("horovod_device", &P::horovod_device, "device of Horovod's all-reduce");
  table.Group("Files");
  table.Add("train_dir", &P::train_dir, "folder of checkpoints");
  table.Add("eval_dir", &P::eval_dir, "folder for the event files of an evaluation");
  table.Add("save_model_secs", &P::save_model_secs, "seconds between checkpoints; 0: only at the end");
  table.Add("save_model_steps", &P::save_model_steps, "steps between checkpoints");
  table.Add("max_ckpts_to_keep", &P::max_ckpts_to_keep, "checkpoints to keep");
  table.Add("summary_verbosity", &P::summary_verbosity, "0 to 3: how much goes to the event files");
  table.Add("save_summaries_steps", &P::save_summaries_steps, "steps between summaries; 0: none");
  table.Add("trace_file", &P::trace_file, "timeline of one step");
  table.Add("use_chrome_trace_format", &P::use_chrome_trace_format,
            "timeline as Chrome JSON, not protocol buffer text");
  table.Add("tfprof_file", &P::tfprof_file, "profile of the first ten timed steps");
  table.Add("graph_file", &P::graph_file, "the model's graph; as text when the name ends in txt");
  table.Add("partitioned_graph_file_prefix", &P::partitioned_graph_file_prefix, "the graph of each device");
}

}  // namespace muster::bench
